package procs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrGone says that the process has ended, or that its input is closed: it hears nothing any more.
var ErrGone = errors.New("the process takes no more input")

// stopCallback names our Stop hook, which the CLI calls at the end of each turn.
const stopCallback = "stop"

// initialize is the first line on stdin. The hook has no timeout, so a turn waits at its gate for as long as it takes.
var initialize = map[string]any{
	"type": "control_request", "request_id": "initialize",
	"request": map[string]any{
		"subtype": "initialize",
		"hooks": map[string]any{
			"Stop": []any{map[string]any{"matcher": nil, "hookCallbackIds": []string{stopCallback}}},
		},
	},
}

// refusal answers a control request that is not understood; the child waits for an answer.
func refusal(m unanswerable) any {
	return map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": m.Request,
		"error": fmt.Sprintf("unsupported control request %.60q", m.Subtype),
	}}
}

// Send writes a user message. It blocks until the child has taken it into its pipe, which it does at any time, also
// in the middle of a turn; what becomes of it, the receipts with this uuid tell. The error is ErrGone after the end.
func (p *Process) Send(uuid, text string) error {
	return p.stdin.write(map[string]any{
		"type": "user", "uuid": uuid,
		"message": map[string]any{"role": "user", "content": text},
	})
}

// Allow lets a call that was asked about run with this input: the Ask's own, for AskUserQuestion with answers added.
func (p *Process) Allow(request string, updatedInput json.RawMessage) error {
	if len(updatedInput) == 0 {
		return errors.New("allow a call: it has no input")
	}
	return p.respond(request, map[string]any{"behavior": "allow", "updatedInput": updatedInput})
}

// Deny refuses it; the agent reads the message. With interrupt its turn ends, and it reads no message.
func (p *Process) Deny(request, message string, interrupt bool) error {
	return p.respond(request, map[string]any{"behavior": "deny", "message": message, "interrupt": interrupt})
}

// Gate answers a StopHook: "" lets the turn end, anything else sends the agent on with it. The CLI takes nine in a row.
func (p *Process) Gate(request, block string) error {
	if block == "" {
		return p.respond(request, map[string]any{})
	}
	return p.respond(request, map[string]any{"decision": "block", "reason": block})
}

func (p *Process) respond(request string, response any) error {
	return p.stdin.write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": request, "response": response,
	}})
}

// Interrupt cuts the turn: a running tool is killed, an open question recorded as refused, and the result is an error.
// The process stays usable.
func (p *Process) Interrupt() error { return p.stdin.write(interrupt) }

var interrupt = map[string]any{
	"type": "control_request", "request_id": "interrupt",
	"request": map[string]any{"subtype": "interrupt"},
}

// CloseInput ends stdin. The child ends when it has no work left; an open question fails.
func (p *Process) CloseInput() error { return p.stdin.closeWithin(0) }

// A writer writes lines to stdin, whole and one at a time.
type writer struct {
	pipe *os.File
	pen  chan struct{} // held by who writes
}

func newWriter(pipe *os.File) *writer { return &writer{pipe: pipe, pen: make(chan struct{}, 1)} }

func (w *writer) write(v any) error { return w.writeWithin(v, 0) }

// writeWithin gives up after d, 0 being never. A line that was cut off is the last: the next would continue it.
func (w *writer) writeWithin(v any, d time.Duration) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line for the child: %w", err)
	}
	release, err := w.take(d)
	if err != nil {
		return err
	}
	defer release()
	if d > 0 {
		_ = w.pipe.SetWriteDeadline(time.Now().Add(d))
	}
	if _, err = w.pipe.Write(append(data, '\n')); err != nil {
		w.pipe.Close()
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// closeWithin closes stdin after the line that is being written.
func (w *writer) closeWithin(d time.Duration) error {
	release, err := w.take(d)
	if err != nil {
		return err
	}
	defer release()
	if err := w.pipe.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the child's input: %w", err)
	}
	return nil
}

func (w *writer) take(d time.Duration) (release func(), err error) {
	var limit <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case w.pen <- struct{}{}:
		return func() { <-w.pen }, nil
	case <-limit:
		return nil, fmt.Errorf("%w: it does not read", ErrGone)
	}
}

// close closes stdin at once; a write under way fails.
func (w *writer) close() { w.pipe.Close() }
