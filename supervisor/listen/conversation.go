// Package listen is what the messages of one process have said: signals, calls under way, output. It decides nothing,
// and knows no run.
package listen

import (
	"encoding/json"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// A Conversation is what one process has under way: the calls of the main conversation and of its subagents.
type Conversation struct {
	calls map[string]callUnderWay // by tool use
	Tasks map[string]string       // of subagents, in a few words, by the call that started each

	subagents map[string]*checkpoints.Subagent // by the call that started each

	background    int  // how much lives outside turns
	EndUnreported bool // some of that has ended since the turn's last request to the model, which was not told of it
}

type callUnderWay struct {
	parent string // the call that started the subagent which makes it; "": the main conversation
	starts bool   // it starts a subagent, and lasts as long as that works
	serial bool   // one of our tools: it may wait for another to end, and is then called only after that
}

// Idle reports whether no call is under way.
func (c *Conversation) Idle() bool { return len(c.calls) == 0 }

// Main reports whether a call is under way in the main conversation.
func (c *Conversation) Main(toolUse string) bool {
	call, known := c.calls[toolUse]
	return known && call.parent == ""
}

// Read takes a message of the process.
func (c *Conversation) Read(m procs.Message) {
	switch m := m.(type) {
	case procs.ToolUse:
		if c.calls == nil {
			c.calls, c.Tasks = map[string]callUnderWay{}, map[string]string{}
		}
		starts := claude.StartsSubagent(m.Name)
		if len(c.calls) < maxCalls {
			c.calls[m.ID] = callUnderWay{parent: m.Parent, starts: starts,
				serial: strings.HasPrefix(m.Name, claude.ToolPrefix) && m.Name != claude.ToolPrefix+checkWork}
		}
		if starts && len(c.Tasks) < maxCalls {
			var in struct{ Description string }
			_ = json.Unmarshal(m.Input, &in) // one without is told of without
			c.Tasks[m.ID] = text.FirstLine(text.Truncate(in.Description, text.MaxRestated))
		}
		c.met(m.Parent, m.Agent)
		if starts {
			c.starts(m)
		}
	case procs.Text:
		c.met(m.Parent, m.Agent)
	case procs.Init:
		c.EndUnreported = false
	case procs.Background:
		c.EndUnreported = c.EndUnreported || len(m.Tasks) < c.background
		c.background = len(m.Tasks)
	case procs.StopHook:
		c.background = len(m.Background)
	case procs.ToolResult:
		c.EndUnreported = c.EndUnreported && m.Parent != "" // else the next request takes it along
		c.end(m.ToolUse)
	case procs.Result:
		for id, call := range c.calls {
			if call.parent == "" {
				c.end(id)
			}
		}
	}
}

// checkWork is the tool of ours that is called beside others.
const checkWork = "check_work"

// maxSubagentsKnown bounds how many subagents of a process are known by name.
const maxSubagentsKnown = 256

// starts takes a call that starts a subagent.
func (c *Conversation) starts(m procs.ToolUse) {
	if len(c.subagents) >= maxSubagentsKnown {
		return
	}
	var in struct {
		Prompt string
		Type   string `json:"subagent_type"`
	}
	_ = json.Unmarshal(m.Input, &in) // what it does not say is not known
	sub := &checkpoints.Subagent{ToolUse: m.ID, Task: c.Tasks[m.ID], Depth: 1,
		Type: text.FirstLine(text.Truncate(in.Type, text.MaxRestated)), Prompt: text.Truncate(in.Prompt, 4<<10)}
	if by := c.subagents[m.Parent]; by != nil {
		sub.By, sub.Depth = by, by.Depth+1
	}
	if c.subagents == nil {
		c.subagents = map[string]*checkpoints.Subagent{}
	}
	c.subagents[m.ID] = sub
}

// met takes the id that the CLI has given a subagent, from a line of it. Nothing else is known of one that an earlier
// process has started, and that was revived.
func (c *Conversation) met(toolUse, id string) {
	if id == "" || toolUse == "" {
		return
	}
	named := checkpoints.Subagent{ToolUse: toolUse, Depth: 1}
	switch sub := c.subagents[toolUse]; {
	case sub != nil && sub.ID != "", sub == nil && len(c.subagents) >= maxSubagentsKnown:
		return
	case sub != nil:
		named = *sub
	case c.subagents == nil:
		c.subagents = map[string]*checkpoints.Subagent{}
	}
	named.ID = text.Truncate(id, text.MaxNamed)
	c.subagents[toolUse] = &named
}

// From returns the subagent that says a signal; nil: the main conversation, or nobody knows.
func (c *Conversation) From(s signals.Signal) *checkpoints.Subagent {
	sub := c.subagents[string(s.By)]
	if sub == nil {
		return nil
	}
	from := *sub
	for at, levels := &from, 1; at.By != nil; at, levels = at.By, levels+1 {
		if levels == claude.MaxLevels {
			at.By = nil
			break
		}
		by := *c.subagents[at.By.ToolUse] // its id may have come since
		at.By = &by
	}
	return &from
}

// Named names a subagent to the conversation that started it.
func (c *Conversation) Named(toolUse string) string {
	if sub := c.subagents[toolUse]; sub != nil {
		return strings.TrimSpace(prompts.NameOf(sub))
	}
	return toolUse
}

// maxCalls bounds what is remembered of a process that calls without end.
const maxCalls = 10_000

// end forgets a call, and those of a subagent that ended with it. A subagent in the background outlives its call.
func (c *Conversation) end(id string) {
	delete(c.calls, id)
	for sub, call := range c.calls {
		if call.parent == id {
			c.end(sub)
		}
	}
}

// AtWorkBesides reports whether something else than the calls that wait is under way: another call, or a conversation
// that is at its next step.
func (c *Conversation) AtWorkBesides(waiting map[string]bool) bool { return c.busy("", waiting) }

// CallsBesides reports whether a subagent, which may work in the background, has another call under way than those that
// wait, or one below it has or is at its next step.
func (c *Conversation) CallsBesides(subagent string, waiting map[string]bool) bool {
	_, busy := c.under(subagent, waiting)
	return busy
}

func (c *Conversation) busy(parent string, waiting map[string]bool) bool {
	calls, busy := c.under(parent, waiting)
	return busy || !calls
}

// under reports whether a conversation has calls under way, and whether one of them is busy.
func (c *Conversation) under(parent string, waiting map[string]bool) (calls, busy bool) {
	for id, call := range c.calls {
		if call.parent != parent {
			continue
		}
		calls = true
		if !waiting[id] && !call.serial && (!call.starts || c.busy(id, waiting)) {
			return true, true
		}
	}
	return calls, false
}
