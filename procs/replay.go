package procs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Replay reads a log (Spec.Log) and gives what one launch said on stdout, as its handler was given it, without the
// Exit. Lines of other launches, and one that was cut short by a crash, are passed over; so is a line longer than those
// that the handler was given.
func Replay(log io.Reader, launch int, each func(Message)) error {
	var d decoder
	lines := bufio.NewReader(log)
	for {
		data, err := readLogLine(lines)
		var entry struct {
			Launch int
			Line   json.RawMessage
		}
		if json.Unmarshal(data, &entry) == nil && entry.Launch == launch && len(entry.Line) > 0 && entry.Line[0] == '{' {
			messages, _ := d.decode(entry.Line)
			for _, m := range messages {
				each(m)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log of launch %d: %w", launch, err)
		}
	}
}

// readLogLine reads a line, and gives none for one that is longer than a line of the protocol may be.
func readLogLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > maxLine {
			line = nil
		}
		return line, err
	}
}
