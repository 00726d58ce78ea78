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

// A turn is the time from a prompt to its result.
type turn struct {
	prompt   prompt
	began    time.Time
	recorded bool     // the prompt has been echoed and is in the transcript
	absorbed []prompt // messages that came in its middle and were taken in
	users    int      // messages to the model after the prompt, as num_turns counts them
	replies  int
	spent    spent
	last     spent // on the last reply
	denials  []doc
	calls    int
	used     []string // tools that were called, by name; those that there are
	text     string   // of the last reply
	calling  bool     // the last reply was calls
}

// play runs one turn of the main conversation to its result.
func (c *conversation) play(p prompt) error {
	t := &turn{prompt: p, began: time.Now()}
	c.turn = t
	defer func() { c.turn = nil }()
	c.lifecycle(p, "started")
	c.printInit()
	c.hears(p)
	if p.silent {
		c.printResult(t, doc{"subtype": "success", "is_error": false, "result": "", "stop_reason": nil})
		return c.record(t)
	}
	final, err := c.converse(t)
	var failure apiFailure
	var reached bound
	switch {
	case errors.As(err, &reached):
		c.failed = true
		if !t.recorded { // nothing has come of it, and yet it is kept
			if err := c.keepPrompt(t); err != nil {
				return err
			}
		}
		c.printResult(t, reached.result())
		for _, m := range append(t.absorbed, p) {
			c.lifecycle(m, reached.receipt)
		}
		return nil
	case err == nil:
		c.failed = false
		for _, m := range t.absorbed {
			c.lifecycle(m, "completed")
		}
		c.printResult(t, doc{
			"subtype": "success", "is_error": false, "terminal_reason": "completed", "stop_reason": "end_turn", "result": final,
			"api_error_status": nil,
		})
		c.lifecycle(p, "completed")
		return nil
	case errors.As(err, &failure):
		c.failed = true
		c.printResult(t, failure.result())
	case errors.Is(err, errInterrupted):
		c.failed = true
		if err := c.cutShort(t); err != nil {
			return err
		}
		reason, stop := "aborted_streaming", any(nil)
		if t.calling {
			reason, stop = "aborted_tools", "tool_use"
		}
		c.printResult(t, doc{
			"subtype": "error_during_execution", "is_error": true, "terminal_reason": reason, "stop_reason": stop,
			"errors": []string{"the turn was interrupted"},
		})
	default:
		return err
	}
	for _, m := range append(t.absorbed, p) {
		c.lifecycle(m, "cancelled")
	}
	return nil
}

// converse lets the model speak until it is done, and gives its last text.
func (c *conversation) converse(t *turn) (string, error) {
	for blocks := 0; ; {
		if c.broken != nil { // nobody reads it, and its tools are gone
			return "", c.broken
		}
		if err := c.drain(); err != nil {
			return "", err
		}
		if err := c.overlong(t); err != nil {
			return "", err
		}
		if err := c.exhausted(t); err != nil {
			return "", err
		}
		if err := c.reply(t); err != nil {
			return "", err
		}
		if t.calling {
			if err := c.absorb(t); err != nil {
				return "", err
			}
			if err := c.compactIfFull(t); err != nil {
				return "", err
			}
			continue
		}
		reason, err := c.askGate(t, blocks > 0)
		if err != nil || reason == "" {
			return t.text, err
		}
		blocks++
		if err := c.feedback(t, reason); err != nil {
			return "", err
		}
		if blocks == maxBlocks {
			c.message(doc{
				"type": "system", "subtype": "informational", "level": "warning",
				"content": fmt.Sprintf("A hook blocked the turn from ending %d consecutive times—overriding and ending turn.",
					blocks),
			})
			return "", nil
		}
	}
}

// reply lets the model speak once, and makes the calls of what it says.
func (c *conversation) reply(t *turn) error {
	if err := c.signalled(); err != nil { // calls that fail at once wait for nothing, and may be made for ever
		return err
	}
	reply := c.next(time.Now())
	switch {
	case reply.Crash != 0:
		return ending{code: reply.Crash, crashed: true}
	case reply.Hang:
		for {
			if cut := c.wait(); cut != nil {
				if err := c.record(t); err != nil { // the CLI keeps a prompt that it was stopped over
					return err
				}
				return cut
			}
		}
	case reply.APIError != nil:
		return c.fail(t, *reply.APIError)
	}
	if err := c.record(t); err != nil {
		return err
	}
	return c.say(t, reply)
}

// next is what the model says now. A usage limit that has passed is none any more, in this process and in later ones.
func (c *conversation) next(now time.Time) examples.Reply {
	reply := c.scenario.Next(c.messages)
	if reply.APIError == nil || reply.APIError.Lasts == 0 {
		return reply
	}
	if c.limitedSince.IsZero() {
		c.limitedSince = now
	}
	until := reply.APIError.Passes(c.limitedSince)
	if !now.Before(until) {
		c.scenario = c.scenario.Lifted()
		return c.scenario.Next(c.messages)
	}
	reply.APIError = new(reply.APIError.Until(until))
	return reply
}

// drain takes in what has come, and lets the strands do what they can, without waiting.
func (a *agent) drain() error {
	for {
		if moved, err := a.goOn(); err != nil {
			return err
		} else if moved {
			continue
		}
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
func (c *conversation) absorb(t *turn) error {
	if err := c.drain(); err != nil {
		return err
	}
	for _, p := range c.queue {
		c.messages = append(c.messages, examples.Message{Role: examples.System, Texts: []string{p.text}})
		c.echo(p)
		c.lifecycle(p, "started")
		t.absorbed = append(t.absorbed, p)
		mode := "prompt"
		if p.origin != nil {
			mode = "task-notification"
		}
		err := c.keep(doc{"type": "attachment", "uuid": uuid.NewString(), "attachment": doc{
			"type": "queued_command", "prompt": p.text, "source_uuid": p.uuid, "commandMode": mode,
		}})
		if err != nil {
			return err
		}
	}
	c.queue = nil
	return nil
}

// say prints and keeps a reply, one block a line, and makes its calls.
func (c *conversation) say(t *turn, r examples.Reply) error {
	blocks := []doc{}
	if r.Text != "" {
		blocks = append(blocks, doc{"type": "text", "text": r.Text})
	}
	var calls []call
	for _, tool := range r.Tools {
		made := call{id: "toolu_" + shortID(), name: tool.Name, input: tool.Input}
		if made.input == nil {
			made.input = map[string]any{}
		}
		if made.name == "SendMessage" {
			made.input = addressed(made)
		}
		if made.name == exitPlanMode {
			made.input = c.planned()
		}
		calls = append(calls, made)
		blocks = append(blocks, doc{"type": "tool_use", "id": made.id, "name": made.name, "input": made.input})
	}
	t.replies++
	billed := r.Billed()
	c.spent, t.spent, t.last = c.spent.plus(billed), t.spent.plus(billed), spent(billed)
	t.text, t.calling = r.Text, len(calls) > 0
	said := examples.Message{Role: examples.Assistant}
	if r.Text != "" {
		said.Texts = []string{r.Text}
	}
	c.messages = append(c.messages, said)
	begun := t.last // a line shows what is known when the reply begins
	begun.Output = 0
	id := "msg_" + shortID()
	for _, b := range blocks {
		message := doc{
			"id": id, "type": "message", "role": "assistant", "model": c.opts.model, "content": []doc{b},
			"stop_reason": nil, "stop_sequence": nil, "usage": begun.usage(),
		}
		line := doc{"type": "assistant", "message": message, "uuid": uuid.NewString()}
		if c.sub == nil || b["type"] != "text" || c.opts.subagentText {
			c.line(line)
		}
		message["stop_reason"], message["usage"] = t.stopReason(), t.last.usage()
		if err := c.keep(doc{"type": "assistant", "uuid": line["uuid"], "message": message}); err != nil {
			return err
		}
	}
	if err := c.exhausted(t); err != nil {
		return err
	}
	return c.callAll(t, calls)
}

// cutShort tells the model that its turn was interrupted.
func (c *conversation) cutShort(t *turn) error {
	if err := c.record(t); err != nil {
		return err
	}
	text := "[Request interrupted by user]"
	if t.calling {
		text = "[Request interrupted by user for tool use]"
	}
	c.messages = append(c.messages, user(text))
	t.users++
	return c.userLine([]doc{{"type": "text", "text": text}}, nil, nil)
}
