package procs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// errNoMessages says that the process is a Spec.Command, which nothing can be said to.
var errNoMessages = errors.New("the process is a command, which takes no messages")

// errGone says that the process has ended, or that its input is closed: it reads nothing any more.
var errGone = errors.New("the process takes no more input")

// Our hooks: Stop, which the CLI calls at the end of each turn, and PreToolUse before it starts a subagent, and before
// it makes a call that could write a file (Spec.AskFirst).
const (
	stopCallback  = "stop"
	startCallback = "start"
	callCallback  = "call"
)

// AskedFirst is which calls AskFirst is about, as the CLI takes it: those of the tools that write files, and of servers
// that are not ours.
const AskedFirst = "Bash|Write|Edit|MultiEdit|NotebookEdit|mcp__(?!" + serverName + "__).*"

// initialize is the first line on stdin. The hooks have no timeout, so a turn waits at its gate as long as it takes.
func (s Spec) initialize() any {
	hooks := map[string]any{"Stop": []any{map[string]any{"matcher": nil, "hookCallbackIds": []string{stopCallback}}}}
	var before []any
	if s.Briefing != "" {
		before = append(before, map[string]any{"matcher": "Agent|Task", "hookCallbackIds": []string{startCallback}})
	}
	if s.AskFirst != nil {
		before = append(before, map[string]any{"matcher": AskedFirst, "hookCallbackIds": []string{callCallback}})
	}
	if before != nil {
		hooks["PreToolUse"] = before
	}
	request := map[string]any{"subtype": "initialize", "hooks": hooks}
	if s.servesTools() {
		request["sdkMcpServers"] = []string{serverName}
	}
	return map[string]any{"type": "control_request", "request_id": "initialize", "request": request}
}

// refuse answers a control request with an error, since the child waits for an answer.
func (p *Process) refuse(request, why string) {
	p.reply(func() error {
		return p.stdin.write(map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "error", "request_id": request, "error": why,
		}})
	})
}

// reply writes what the goroutine that reads stdout has to say, without holding that up: a child that is in the middle
// of printing may not read what somebody else is writing before it has printed all. Only when many replies are not
// taken does it block. A child that is gone needs none.
func (p *Process) reply(write func() error) {
	p.replies.Go(func() error {
		_ = write()
		return nil
	})
}

// Send writes a user message. It blocks until the child has taken it into its pipe, which it does at any time, also
// in the middle of a turn; what becomes of it, the receipts with this uuid tell. The error is errGone after the end.
func (p *Process) Send(uuid, text string) error {
	return p.stdin.write(map[string]any{
		"type": "user", "uuid": uuid,
		"message": map[string]any{"role": "user", "content": text},
	})
}

// Allow lets a call that was asked about run with this input: the Ask's own, for AskUserQuestion with answers added.
// Like Deny, Gate and Return it answers a request once, and blocks until the child has taken that into its pipe. The
// error is ErrNotWaiting if the request was answered before, was withdrawn, or is unknown, and errGone after the end.
func (p *Process) Allow(request string, updatedInput json.RawMessage) error {
	if !json.Valid(updatedInput) {
		return errors.New("allow a call: its input is not JSON")
	}
	if _, err := p.claim(request, byVerdict); err != nil {
		return err
	}
	return p.respond(request, map[string]any{"behavior": "allow", "updatedInput": updatedInput})
}

// Deny refuses it; the agent reads the message. With interrupt its turn ends, and it reads no message.
func (p *Process) Deny(request, message string, interrupt bool) error {
	if _, err := p.claim(request, byVerdict); err != nil {
		return err
	}
	return p.respond(request, denial(message, interrupt))
}

func denial(message string, interrupt bool) any {
	return map[string]any{"behavior": "deny", "message": message, "interrupt": interrupt}
}

// Gate answers a StopHook: "" lets the turn end, anything else sends the agent on with it. The CLI takes nine in a row.
func (p *Process) Gate(request, block string) error {
	if _, err := p.claim(request, byGate); err != nil {
		return err
	}
	if block == "" {
		return p.respond(request, map[string]any{})
	}
	return p.respond(request, map[string]any{"decision": "block", "reason": block})
}

// deny refuses a call that was not handed over.
func (p *Process) deny(request, why string) {
	p.reply(func() error { return p.respond(request, denial(why, false)) })
}

// claim takes the one right to answer a request.
func (p *Process) claim(id string, how answering) (request, error) {
	if p.stdin == nil {
		return request{}, errNoMessages
	}
	select {
	case <-p.exited:
		return request{}, errGone
	default:
		return p.waiting.answer(id, how)
	}
}

func (p *Process) respond(request string, response any) error {
	return p.stdin.write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": request, "response": response,
	}})
}

// interrupt cuts the turn: a running tool is killed, an open question recorded as refused, and the result is an error.
// The process stays usable.
var interrupt = map[string]any{
	"type": "control_request", "request_id": "interrupt",
	"request": map[string]any{"subtype": "interrupt"},
}

// CloseInput ends stdin. The child ends when it has no work left; an open question fails.
func (p *Process) CloseInput() error { return p.stdin.closeWithin(0) }

// A writer writes lines to stdin, whole and one at a time. A nil one is a command's: its error is errNoMessages.
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
	if w == nil {
		return errNoMessages
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
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// closeWithin closes stdin after the line that is being written.
func (w *writer) closeWithin(d time.Duration) error {
	if w == nil {
		return errNoMessages
	}
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
		return nil, fmt.Errorf("%w: it does not read", errGone)
	}
}

// close closes stdin at once; a write under way fails.
func (w *writer) close() { w.pipe.Close() }

// closeInput does that with whatever the process reads from.
func (p *Process) closeInput() {
	if p.stdin != nil {
		p.stdin.close()
	}
	if p.prompt != nil {
		p.prompt.Close()
	}
}
