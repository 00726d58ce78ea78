package torture

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"claude-supervise/procs/stream"
)

// A conversation is what one agent has said and heard, as its transcripts keep it, in order.
type conversation struct {
	lines    []string
	messages []message
	calls    []*call
}

// message is one text to the model: a prompt, or the result of a call.
type message struct {
	uuid, text string
	replied    bool // the model has said something since
}

// A call is one use of Bash by the model.
type call struct {
	id, command string
	whole       bool // it ended by itself: what was cut off may have taken effect or not, and is done again
}

var notAlphanumeric = regexp.MustCompile(`[^0-9A-Za-z]`)

// conversation reads the transcripts of the run's folder.
func (r *run) conversation() (*conversation, error) {
	folder := filepath.Join(r.dir, "home", ".claude", "projects", notAlphanumeric.ReplaceAllString(r.cwd(), "-"))
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	subagents, err := filepath.Glob(filepath.Join(folder, "*", "subagents", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	paths = append(paths, subagents...)
	c := &conversation{}
	for _, path := range paths {
		err = errors.Join(err, c.readFile(path))
	}
	return c, err
}

func (c *conversation) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		c.take(line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take takes one line. One that a kill has cut off says nothing.
func (c *conversation) take(line []byte) {
	var e struct {
		Type, UUID string
		Message    struct{ Content stream.Content }
		Attachment struct {
			Type, Prompt string
			Source       string `json:"source_uuid"`
		}
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	c.lines = append(c.lines, string(line))
	switch {
	case e.Type == "user":
		for _, text := range e.Message.Content.Texts() {
			c.read(e.UUID, text)
		}
		c.ended(line)
	case e.Attachment.Type == "queued_command":
		c.read(e.Attachment.Source, e.Attachment.Prompt)
	case e.Type == "assistant":
		for i := range c.messages {
			c.messages[i].replied = true
		}
		for _, b := range e.Message.Content {
			var in struct{ Command string }
			if b.Type == "tool_use" && json.Unmarshal(b.Input, &in) == nil {
				c.calls = append(c.calls, &call{id: b.ID, command: in.Command})
			}
		}
	}
}

// read takes a text to the model. A message that was said again under its uuid, since the process died before it had
// been replied to, is one message.
func (c *conversation) read(uuid, text string) {
	for _, h := range c.messages {
		if h.uuid == uuid && h.text == text && !h.replied {
			return
		}
	}
	c.messages = append(c.messages, message{uuid: uuid, text: text})
}

// ended takes the results of calls.
func (c *conversation) ended(line []byte) {
	var e struct {
		Message struct {
			Content []struct {
				ToolUseID string `json:"tool_use_id"`
				IsError   bool   `json:"is_error"`
			}
		}
	}
	if json.Unmarshal(line, &e) != nil {
		return // a prompt: its content is a text
	}
	for _, result := range e.Message.Content {
		for _, call := range c.calls {
			if result.ToolUseID == call.id && !result.IsError {
				call.whole = true
			}
		}
	}
}

// times counts in how many texts to the model a token stands.
func (c *conversation) times(token string) int {
	n := 0
	for _, h := range c.messages {
		if strings.Contains(h.text, token) {
			n++
		}
	}
	return n
}

// made counts the calls of a command, and those of them that were not cut off.
func (c *conversation) made(command string) (all, whole int) {
	for _, call := range c.calls {
		if call.command == command {
			all++
			if call.whole {
				whole++
			}
		}
	}
	return all, whole
}
