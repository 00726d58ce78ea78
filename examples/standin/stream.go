package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"claude-supervise/procs/stream"
)

// maxLine bounds a line of the input, in bytes; a longer one ends the agent.
const maxLine = 64 << 20

// A doc is a line to write: of the stream, or of the transcript.
type doc map[string]any

// encode writes a doc. All that it is made of can be written as JSON.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("standin: %v", err))
	}
	return data
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// lines reads the input line by line until it ends, which closes the channel.
func lines(ctx context.Context, r io.Reader) <-chan []byte {
	out := make(chan []byte)
	// Not waited for: a read of the input cannot be called off.
	go func() {
		defer close(out)
		in := bufio.NewScanner(r)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			line := append([]byte(nil), in.Bytes()...)
			select {
			case out <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// A hook is asked by its ids. One before a call is about all tools but ours: the stand-in knows no other matcher.
type hook struct {
	IDs []string `json:"hookCallbackIds"`
}

// An incoming line is what the other side says.
type incoming struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	UUID      string `json:"uuid"`
	Message   struct {
		Content stream.Content `json:"content"`
	} `json:"message"`
	Request struct {
		Subtype string `json:"subtype"`
		Mode    string `json:"mode"`
		Hooks   struct {
			Stop         []hook `json:"Stop"`
			PreToolUse   []hook `json:"PreToolUse"`
			SessionStart []hook `json:"SessionStart"`
		} `json:"hooks"`
		Servers []string `json:"sdkMcpServers"`
	} `json:"request"`
	Response struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error,omitempty"`
	} `json:"response"`
}

// print writes a line of the stream. Once the reader is gone that is kept, and ends the agent at the next wait.
func (a *agent) print(d doc) {
	if a.broken != nil {
		return
	}
	if _, err := a.out.Write(append(encode(d), '\n')); err != nil {
		a.broken = fmt.Errorf("the reader is gone: %w", err)
	}
}

// message prints a line that belongs to the session.
func (a *agent) message(d doc) {
	d["session_id"] = a.opts.session
	if d["uuid"] == nil {
		d["uuid"] = uuid.NewString()
	}
	a.print(d)
}

// lifecycle prints the receipt of a person's message. One without a uuid gets none.
func (a *agent) lifecycle(p prompt, state string) {
	if p.uuid != "" {
		a.message(doc{"type": "command_lifecycle", "command_uuid": p.uuid, "state": state})
	}
}

// accept answers a control request.
func (a *agent) accept(request string, response doc) {
	a.print(doc{"type": "control_response",
		"response": doc{"subtype": "success", "request_id": request, "response": response}})
}
