package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claude-supervise/procs"
)

// errGone says that the process has ended, or that its input is closed: it reads nothing any more.
var errGone = errors.New("the process takes no more input")

// Our hooks: Stop, which the CLI calls at the end of each turn, PreToolUse, which it calls before it makes a call, and
// SessionStart, which it calls when it has compacted a conversation, before that goes on.
const (
	stopCallback    = "stop"
	callCallback    = "call"
	compactCallback = "compact"
)

// hookTimeout is how long the CLI waits for the answer of a hook, in seconds: 23 days. After that it ends the turn as a
// success, and on 2.1.7 and 2.1.100 it makes the call. By default that is so after ten minutes. It must stay below
// 2,147,484: the timers of 2.1.7 to 2.1.200 have 31 bits of milliseconds, and one that does not fit is up at once.
const hookTimeout = 2_000_000

// Hooks are ours, as initialize has them. The calls of our own tools are left out: they are ours to answer anyway. An
// error of ours, or an answer that the CLI does not understand, refuses a call from 2.1.329 on (onFailure); before, it
// has the call made, as if we had no opinion. A Stop hook knows no onFailure: it is to be answered always, and validly.
func Hooks() map[string]any {
	return map[string]any{
		"Stop": []any{map[string]any{"matcher": nil, "hookCallbackIds": []string{stopCallback}, "timeout": hookTimeout}},
		"PreToolUse": []any{map[string]any{"matcher": "^(?!" + ToolPrefix + ").*", "hookCallbackIds": []string{callCallback},
			"timeout": hookTimeout, "onFailure": "block"}},
		"SessionStart": []any{map[string]any{"matcher": "compact", "hookCallbackIds": []string{compactCallback},
			"timeout": hookTimeout}},
	}
}

// initialize is the first line on stdin.
func (s launch) initialize() any {
	request := map[string]any{"subtype": "initialize", "hooks": Hooks()}
	if len(s.Tools) > 0 {
		request["sdkMcpServers"] = []string{serverName}
	}
	return map[string]any{"type": "control_request", "request_id": "initialize", "request": request}
}

// refuse answers a control request with an error, since the child waits for an answer.
func (d *dialogue) refuse(request, why string) {
	d.reply(func() error {
		return d.stdin.write(map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "error", "request_id": request, "error": why,
		}})
	})
}

// reply writes what the goroutine that reads stdout has to say, without holding that up: a child that is in the middle
// of printing may not read what somebody else is writing before it has printed all. Only when many replies are not
// taken does it block. A child that is gone needs none.
func (d *dialogue) reply(write func() error) {
	d.replies.Go(func() error {
		_ = write()
		return nil
	})
}

// Send writes a user message. It blocks until the child has taken it into its pipe, which it does at any time, also
// in the middle of a turn; what becomes of it, the receipts with this uuid tell. The error is errGone after the end.
func (d *dialogue) Send(uuid, text string, images ...procs.Image) error {
	var content any = text
	if len(images) > 0 {
		content = blocks(text, images)
	}
	return d.stdin.write(map[string]any{
		"type": "user", "uuid": uuid,
		"message": map[string]any{"role": "user", "content": content},
	})
}

// blocks are a text and images as content of a message or a result.
func blocks(text string, images []procs.Image) []any {
	content := []any{textContent{"text", text}}
	for _, i := range images {
		content = append(content, map[string]any{"type": "image",
			"source": map[string]any{"type": "base64", "media_type": i.Type, "data": i.Data}})
	}
	return content
}

// Allow lets a call that was asked about run with this input: the Ask's own, for AskUserQuestion with answers added.
// Like Deny, Gate and Return it answers a request once, and blocks until the child has taken that into its pipe. The
// error is ErrNotWaiting if the request was answered before, was withdrawn, or is unknown, and errGone after the end.
func (d *dialogue) Allow(request string, updatedInput json.RawMessage) error {
	if !json.Valid(updatedInput) {
		return errors.New("allow a call: its input is not JSON")
	}
	r, err := d.claim(request, byVerdict)
	if err != nil {
		return err
	}
	if r.hook != nil {
		return d.answerHook(request, r.hook, procs.CallCheck{Allow: true})
	}
	return d.respond(request, allowed(updatedInput))
}

func allowed(input json.RawMessage) any {
	return map[string]any{"behavior": "allow", "updatedInput": input}
}

// isOwn reports whether a tool is one that we serve. To call it needs nobody's permission, though the CLI may ask for
// it: in plan mode, by an ask rule of the person's, and where only an administrator's rules count. What the call asks
// for is asked anyway.
func (s launch) isOwn(tool string) bool {
	return len(s.Tools) > 0 && strings.HasPrefix(tool, ToolPrefix)
}

// Deny refuses it; the agent reads the message. With interrupt its turn ends, and it reads no message. An expected call
// that is denied with no message is left to rules and modes.
func (d *dialogue) Deny(request, message string, interrupt bool) error {
	r, err := d.claim(request, byVerdict)
	if err != nil {
		return err
	}
	if r.hook != nil {
		return d.answerHook(request, r.hook, procs.CallCheck{Deny: message})
	}
	return d.respond(request, denial(message, interrupt))
}

func denial(message string, interrupt bool) any {
	return map[string]any{"behavior": "deny", "message": message, "interrupt": interrupt}
}

// Gate answers a StopHook: "" lets the turn end, anything else sends the agent on with it. The CLI takes nine in a row.
func (d *dialogue) Gate(request, block string) error {
	if _, err := d.claim(request, byGate); err != nil {
		return err
	}
	if block == "" {
		return d.respond(request, map[string]any{})
	}
	return d.respond(request, blocked(block))
}

func blocked(reason string) any { return map[string]any{"decision": "block", "reason": reason} }

// deny refuses a call that was not handed over.
func (d *dialogue) deny(request, why string) {
	d.reply(func() error { return d.respond(request, denial(why, false)) })
}

// claim takes the one right to answer a request.
func (d *dialogue) claim(id string, how answering) (request, error) {
	select {
	case <-d.Exited():
		return request{}, errGone
	default:
		return d.waiting.answer(id, how)
	}
}

func (d *dialogue) respond(request string, response any) error {
	return d.stdin.write(map[string]any{"type": "control_response", "response": map[string]any{
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
func (d *dialogue) CloseInput() error { return d.stdin.closeWithin(0) }

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
		return fmt.Errorf("%w: %w", errGone, err)
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
		return nil, fmt.Errorf("%w: it does not read", errGone)
	}
}

// close closes stdin at once; a write under way fails.
func (w *writer) close() { w.pipe.Close() }
