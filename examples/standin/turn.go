package standin

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// maxBlocks is how often in a row the Stop hook may refuse the end of a turn.
const maxBlocks = 9

// What a reply costs, whatever its length: tokens, and USD at the list price of the model that the CLI was measured
// with.
const (
	inputTokens  = 120
	outputTokens = 42
	replyCost    = 0.00132
)

// A turn is the time from a prompt to its result.
type turn struct {
	prompt   prompt
	began    time.Time
	recorded bool     // the prompt has been echoed and is in the transcript
	absorbed []prompt // messages that came in its middle and were taken in
	users    int      // messages to the model after the prompt, as num_turns counts them
	replies  int
	denials  []doc
	text     string // of the last reply
	calling  bool   // the last reply was calls
}

// play runs one turn to its result.
func (a *agent) play(p prompt) error {
	t := &turn{prompt: p, began: time.Now()}
	a.turn = t
	defer func() { a.turn = nil }()
	a.lifecycle(p, "started")
	a.printInit()
	a.messages = append(a.messages, user(p.text))
	if p.silent {
		a.printResult(t, doc{"subtype": "success", "is_error": false, "result": "", "stop_reason": nil})
		return a.record(t)
	}
	final, err := a.converse(t)
	var failure apiFailure
	switch {
	case err == nil:
		a.failed = false
		for _, m := range t.absorbed {
			a.lifecycle(m, "completed")
		}
		a.printResult(t, doc{
			"subtype": "success", "is_error": false, "terminal_reason": "completed", "stop_reason": "end_turn", "result": final,
			"api_error_status": nil,
		})
		a.lifecycle(p, "completed")
		return nil
	case errors.As(err, &failure):
		a.failed = true
		a.printResult(t, failure.result())
	case errors.Is(err, errInterrupted):
		a.failed = true
		if err := a.cutShort(t); err != nil {
			return err
		}
	default:
		return err
	}
	for _, m := range append(t.absorbed, p) {
		a.lifecycle(m, "cancelled")
	}
	return nil
}

// converse lets the model speak until it is done, and gives its last text.
func (a *agent) converse(t *turn) (string, error) {
	for blocks := 0; ; {
		if err := a.drain(); err != nil {
			return "", err
		}
		reply := a.scenario.Next(a.messages)
		switch {
		case reply.Crash != 0:
			return "", ending{code: reply.Crash, crashed: true}
		case reply.Hang:
			for {
				if err := a.wait(nil); err != nil {
					return "", err
				}
			}
		}
		if reply.APIError != nil {
			return "", a.fail(t, *reply.APIError)
		}
		if err := a.record(t); err != nil {
			return "", err
		}
		if err := a.say(t, reply); err != nil {
			return "", err
		}
		if t.calling {
			if err := a.absorb(t); err != nil {
				return "", err
			}
			continue
		}
		reason, err := a.askGate(t, blocks > 0)
		if err != nil || reason == "" {
			return t.text, err
		}
		blocks++
		if err := a.feedback(t, reason); err != nil {
			return "", err
		}
		if blocks == maxBlocks {
			a.message(doc{
				"type": "system", "subtype": "informational", "level": "warning",
				"content": fmt.Sprintf("A hook blocked the turn from ending %d consecutive times—overriding and ending turn.", blocks),
			})
			return "", nil
		}
	}
}

// drain takes in what has come, without waiting.
func (a *agent) drain() error {
	for {
		select {
		case line, ok := <-a.input:
			if !ok {
				a.input = nil
				continue
			}
			if err := a.take(line); err != nil {
				return err
			}
		case t := <-a.ended:
			a.taskEnded(t)
		default:
			return nil
		}
	}
}

// absorb takes what has been said meanwhile into the running turn.
func (a *agent) absorb(t *turn) error {
	if err := a.drain(); err != nil {
		return err
	}
	for _, p := range a.queue {
		a.messages = append(a.messages, examples.Message{Role: examples.System, Texts: []string{p.text}})
		a.echo(p)
		a.lifecycle(p, "started")
		t.absorbed = append(t.absorbed, p)
		mode := "prompt"
		if p.origin != nil {
			mode = "task-notification"
		}
		err := a.keep(doc{"type": "attachment", "uuid": uuid.NewString(), "attachment": doc{
			"type": "queued_command", "prompt": p.text, "source_uuid": p.uuid, "commandMode": mode,
		}})
		if err != nil {
			return err
		}
	}
	a.queue = nil
	return nil
}

// say prints and keeps a reply, one block a line, and makes its calls.
func (a *agent) say(t *turn, r examples.Reply) error {
	blocks := []doc{}
	if r.Text != "" {
		blocks = append(blocks, doc{"type": "text", "text": r.Text})
	}
	var calls []call
	for _, tool := range r.Tools {
		c := call{id: "toolu_" + shortID(), name: tool.Name, input: tool.Input}
		if c.input == nil {
			c.input = map[string]any{}
		}
		calls = append(calls, c)
		blocks = append(blocks, doc{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input})
	}
	t.replies++
	a.cost += replyCost
	t.text, t.calling = r.Text, len(calls) > 0
	said := examples.Message{Role: examples.Assistant}
	if r.Text != "" {
		said.Texts = []string{r.Text}
	}
	a.messages = append(a.messages, said)
	stop := "end_turn"
	if t.calling {
		stop = "tool_use"
	}
	id := "msg_" + shortID()
	for _, b := range blocks {
		message := doc{
			"id": id, "type": "message", "role": "assistant", "model": a.opts.model, "content": []doc{b},
			"stop_reason": nil, "stop_sequence": nil, "usage": usage(1),
		}
		line := doc{"type": "assistant", "message": message, "parent_tool_use_id": nil, "timestamp": now(), "uuid": uuid.NewString()}
		a.message(line)
		message["stop_reason"] = stop
		if err := a.keep(doc{"type": "assistant", "uuid": line["uuid"], "message": message}); err != nil {
			return err
		}
	}
	return a.callAll(t, calls)
}

// cutShort ends a turn that was interrupted.
func (a *agent) cutShort(t *turn) error {
	if err := a.record(t); err != nil {
		return err
	}
	text, reason, stop := "[Request interrupted by user]", "aborted_streaming", any(nil)
	if t.calling {
		text, reason, stop = "[Request interrupted by user for tool use]", "aborted_tools", "tool_use"
	}
	a.messages = append(a.messages, user(text))
	t.users++
	if err := a.userLine([]doc{{"type": "text", "text": text}}, nil, nil); err != nil {
		return err
	}
	a.printResult(t, doc{
		"subtype": "error_during_execution", "is_error": true, "terminal_reason": reason, "stop_reason": stop,
		"errors": []string{"the turn was interrupted"},
	})
	return nil
}
