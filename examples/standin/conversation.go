package standin

import (
	"maps"
	"strings"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// A conversation is the main one, or that of a subagent.
type conversation struct {
	*agent
	sub    *subagent // nil for the main conversation
	strand *strand   // that it goes on in; nil for the agent's own goroutine

	transcript *transcript
	messages   []examples.Message
	last       string   // uuid of the last line
	open       []string // calls that wait for results of the next message
	turn       *turn    // the running one
}

func newConversation(a *agent) *conversation {
	return &conversation{
		agent: a, transcript: &transcript{},
		messages: []examples.Message{{Role: examples.System, Texts: []string{"Primary working directory: " + a.cwd}}},
	}
}

// goOnFrom takes up what has been said.
func (c *conversation) goOnFrom(p *past) {
	c.messages, c.last = append(c.messages, p.messages...), p.last
}

// wait blocks until something has happened. The errors are those of agent.wait, and errDismissed when the process ends.
func (c *conversation) wait() error {
	if c.strand == nil {
		return c.agent.wait()
	}
	if c.strand.cut == nil && !c.strand.yield(struct{}{}) {
		c.strand.cut = errDismissed
	}
	return c.strand.cut
}

// in is the conversation as a call sees it that goes on in a strand of its own.
func (c *conversation) in(s *strand) *conversation {
	beside := *c
	beside.strand = s
	return &beside
}

// line prints a line of what is said in the conversation.
func (c *conversation) line(d doc) {
	d["parent_tool_use_id"], d["timestamp"] = nil, now()
	if c.sub != nil {
		if c.sub.silenced {
			return
		}
		d["parent_tool_use_id"], d["agent_id"] = c.sub.Call, c.sub.id
		d["subagent_type"], d["task_description"] = c.sub.Kind, c.sub.Task
	}
	c.message(d)
}

func user(text string) examples.Message {
	return examples.Message{Role: examples.User, Texts: []string{text}}
}

// echo repeats a prompt on the stream, when that is asked for.
func (a *agent) echo(p prompt) {
	if !a.opts.replay {
		return
	}
	d := doc{
		"type": "user", "message": doc{"role": "user", "content": p.text}, "parent_tool_use_id": nil, "timestamp": now(),
		"isReplay": true,
	}
	if p.uuid != "" {
		d["uuid"] = p.uuid
	}
	if p.origin != nil {
		d["origin"] = p.origin
	}
	a.message(d)
}

// record puts the turn's prompt into the transcript and echoes it. The CLI does so when the first reply comes: before
// that a crash leaves nothing behind.
func (c *conversation) record(t *turn) error {
	if t.recorded {
		return nil
	}
	t.recorded = true
	if t.prompt.origin == nil && t.prompt.results == nil {
		c.echo(t.prompt)
	}
	return c.keepPrompt(t)
}

// keepPrompt puts the turn's prompt into the transcript.
func (c *conversation) keepPrompt(t *turn) error {
	id := t.prompt.uuid
	if id == "" {
		id = uuid.NewString()
	}
	d := doc{"type": "user", "uuid": id, "message": doc{"role": "user", "content": t.prompt.content()},
		"promptSource": "sdk"}
	if t.prompt.origin != nil {
		d["promptSource"], d["origin"] = "system", t.prompt.origin
	}
	return c.keep(d)
}

// userLine prints and keeps a message to the model that no person wrote. Further members differ between the two.
func (c *conversation) userLine(content []doc, shown, kept doc) error {
	id := uuid.NewString()
	message := doc{"role": "user", "content": content}
	line := doc{"type": "user", "message": message, "uuid": id}
	maps.Copy(line, shown)
	c.line(line)
	entry := doc{"type": "user", "uuid": id, "message": message}
	maps.Copy(entry, kept)
	return c.keep(entry)
}

// keep appends a line to the transcript, with what all lines of it have.
func (c *conversation) keep(d doc) error {
	d["parentUuid"] = nil
	if c.last != "" {
		d["parentUuid"] = c.last
	}
	d["sessionId"], d["cwd"], d["version"], d["timestamp"] = c.opts.session, c.cwd, version, now()
	d["isSidechain"], d["userType"], d["entrypoint"] = c.sub != nil, "external", "sdk-cli"
	if c.sub != nil {
		d["agentId"] = c.sub.id
	}
	c.last, _ = d["uuid"].(string)
	return c.transcript.add(d)
}

// mend closes calls of an earlier process that never got a result.
func (c *conversation) mend(open []string) error {
	for _, id := range open {
		content := []doc{{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": interruptedCall}}
		c.messages = append(c.messages, user(interruptedCall))
		if err := c.keep(doc{
			"type": "user", "uuid": uuid.NewString(), "message": doc{"role": "user", "content": content},
			"toolUseResult": interruptedCall, "toolDenialKind": "interrupted",
		}); err != nil {
			return err
		}
	}
	return nil
}

const interruptedCall = "[Tool call interrupted: the session ended before this call's result was recorded, so its " +
	"outcome is unknown. " +
	"Check whether it took effect before relying on it or running it again.]"

func shortID() string { return strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }
