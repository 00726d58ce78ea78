package standin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// forked gives the lines with which the transcript of a conversation begins that goes on from another one, under an id
// of its own: what was said in it, under the same uuids. The other one stays as it is, whoever still works in it.
func forked(path, session string) ([]doc, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	defer func() { _ = file.Close() }()
	var lines []doc
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadBytes('\n')
		var d doc
		if json.Unmarshal(line, &d) == nil {
			switch d["type"] {
			case "user", "assistant", "attachment":
				d["sessionId"] = session
				lines = append(lines, d)
			}
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the conversation: %w", err)
		}
	}
}
