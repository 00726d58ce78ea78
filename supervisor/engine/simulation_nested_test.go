package engine

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// A simNested is a run that an agent has started in a call of Bash: its client waits there, and the turn with it.
type simNested struct {
	records.NestedRequest
	toolUse  string
	asked    string // the id that it came with: it may turn out that another is at work on the same
	patience int
}

// nests starts a run inside the agent.
func (p *simProcess) nests() {
	r := p.w.disk.kept.Run
	if p.raw || r.EndedAt != nil || r.Packed != "" {
		return
	}
	w := task.Work{Task: "Look into " + pick(p.w, p.w.id("T"), "what is left"), Said: checkpoints.Delegated{
		Reason: "the agent has started it as a run of its own, and waits for it or continues",
	}}.Usual()
	nest := ask.Nesting{Agent: p.w.childID(), Launch: p.launch, Waits: !p.w.one(4), Work: w}
	n := &simNested{toolUse: p.w.id("toolu_"), asked: nest.Agent, patience: p.w.rng.IntN(60),
		NestedRequest: records.NestedRequest{
			Run: RunID, Agent: nest.Agent, Caller: records.Caller{Run: RunID, Agent: p.agent, Launch: p.launch},
			Fingerprint: nest.Fingerprint(), Work: w,
		}}
	s := p.w.disk.kept
	if child, q := s.NestedFor(&n.NestedRequest); child != nil {
		n.Agent = child.ID
	} else if q == nil && s.NestedRefused(s.Agents.Get(p.agent), w) != "" {
		return
	}
	p.keep(talkEntry{said: procs.ToolUse{ID: n.toolUse, Name: "Bash",
		Input: text.JSON(map[string]string{"command": "claude-supervise run '" + w.Task + "'"})}})
	p.w.disk.leave(supervisor.InboxEntry{Kind: ask.EntryNested, Agent: p.agent, By: "agent " + p.agent,
		Doc: text.JSON(nest)})
	n.Seq = int64(len(p.w.disk.inbox))
	p.w.ring()
	if nest.Waits {
		p.nested = n
		return
	}
	p.returns(n, "It is started.")
}

// notStartedText begins what an agent reads whose nested run is refused.
const notStartedText = "It was not started: "

// watches is one look of the client.
func (p *simProcess) watches() {
	n, w := p.nested, p.w
	end := w.disk.kept.NestedIn(&n.NestedRequest)
	switch {
	case end.Agent != nil && end.Agent.Status.Ended():
		p.leaves(supervisor.EntryNestedSeen, "")
		if n.Agent != n.asked {
			w.truth.ends[n.Agent]++ // it asked for it
		}
		p.returns(n, fmt.Sprintf("%s%s\nOutcome: %s", endHeading, n.Agent, end.Agent.Status))
	case end.Refused != "":
		p.leaves(supervisor.EntryNestedSeen, end.Refused)
		p.returns(n, notStartedText+end.Refused)
	default:
		if n.patience--; n.patience >= 0 {
			return
		}
		if !w.one(4) { // else it is killed, and says nothing
			p.leaves(supervisor.EntryNestedLeft, "")
		}
		p.returns(n, "It continues; its end is told.")
	}
}

func (p *simProcess) leaves(kind, refused string) {
	if r := p.w.disk.kept.Run; r.EndedAt == nil && r.Packed == "" {
		p.w.disk.leave(supervisor.InboxEntry{Kind: kind, Agent: p.nested.Agent, Value: refused,
			By: "agent " + p.agent})
		p.w.ring()
	}
}

// returns ends the call in which a run was started.
func (p *simProcess) returns(n *simNested, text string) {
	p.nested = nil
	p.keep(talkEntry{call: n.toolUse, read: text, said: procs.ToolResult{ToolUse: n.toolUse, Text: text}})
}

// unseen counts ends of children that count as told no more, since the turn is lost in which a client has told them.
func (t *truth) unseen(before, after supervisor.State) {
	for id, a := range after.Agents.All() {
		old := before.Agents.Get(id)
		if old != nil && old.Delegated != nil && old.Delegated.Nested != nil && old.Delegated.Nested.Seen != nil &&
			a.Delegated.Nested.Seen == nil {
			t.ends[id]++
		}
	}
}
