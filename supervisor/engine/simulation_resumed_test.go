package engine

import (
	"slices"

	"claude-supervise/procs"
	"claude-supervise/supervisor"
)

// A conversation may be continued at the calls in which it ended: their answers are their results then.

// places reports whether this is a world in which calls have a line to be continued at. The seeds of the others stay as
// they are.
func (w *simulation) places() bool { return w.seed%8 == 1 || w.seed%8 == 4 }

// lineOf is the line that holds a call.
func (w *simulation) lineOf(toolUse string) string {
	if !w.places() {
		return ""
	}
	return "line of " + toolUse
}

// isPlaced has the process of a launch that is to be told of results begin at their calls, if its conversation can be
// continued there.
func (p *simProcess) isPlaced(s supervisor.State) {
	v := s.ResultsFor(p.agent, p.launch)
	if v == nil {
		return
	}
	var calls []string
	for _, r := range v.Results {
		calls = append(calls, r.ToolUse)
	}
	if _, p.notAt = p.talk.at(calls); p.notAt == "" {
		p.at = calls
	}
}

// at returns what is left of a conversation that is continued at calls of one message, or why it cannot be:
// claude.PlaceOf.
func (t *talk) at(calls []string) (left []talkEntry, why string) {
	var uses, done []string // of the last message
	request, moved := -1, false
	for _, e := range t.entries {
		use, isCall := e.said.(procs.ToolUse)
		_, speaks := e.said.(procs.Text)
		switch {
		case e.sub:
		case isCall && e.request == request:
			uses = append(uses, use.ID)
		case isCall:
			uses, done, request, moved = []string{use.ID}, nil, e.request, false
		case speaks:
			uses, request = nil, e.request
		case e.call == "":
			moved = moved || e.read != "" && request >= 0
		case slices.Contains(uses, e.call) && !slices.Contains(calls, e.call) && !brokenOff(e):
			done = append(done, e.call)
		}
	}
	if moved {
		return nil, "the conversation has gone on since the question"
	}
	for _, call := range calls {
		if !slices.Contains(uses, call) {
			return nil, "the conversation does not have the call that asked"
		}
	}
	if len(uses) != len(calls)+len(done) {
		return nil, "another call beside the question has no result"
	}
	return slices.DeleteFunc(slices.Clone(t.entries), func(e talkEntry) bool {
		return !e.sub && slices.Contains(calls, e.call)
	}), ""
}

func brokenOff(e talkEntry) bool {
	r, is := e.said.(procs.ToolResult)
	return is && r.BrokenOff
}

// resumesAt cuts off what follows the calls; false if the CLI will not have it.
func (p *simProcess) resumesAt() bool {
	left, why := p.talk.at(p.at)
	if why != "" || p.w.one(8) {
		p.say(procs.Result{Subtype: "error_during_execution", IsError: true,
			Text: "No message found with message.uuid of: " + p.w.lineOf(p.at[0])})
		p.exit(procs.Exit{Code: 1, Spoke: true})
		return false
	}
	for _, e := range p.talk.entries {
		if before := p.w.truth.told[e.call]; e.uuid != "" && slices.Contains(p.at, e.call) {
			p.w.must("what an agent has made of an answer is not cut off", !p.w.truth.spoke[before],
				"%s, told to %s and %s", e.call, before, p.name())
		}
	}
	p.talk.entries, p.talk.written = left, len(left)
	return true
}

// refusesResults is a hook of the person's own, which is called with an empty prompt: nothing is said to the model.
func (p *simProcess) refusesResults(in simInput) bool {
	if len(in.results) == 0 || !p.w.one(8) {
		return false
	}
	p.turn = nil
	p.say(procs.Result{Subtype: "success", HookRefused: "not now"})
	p.say(procs.Receipt{UUID: in.uuid, State: "completed"})
	return true
}

// isToldResults has the model read the results of its calls.
func (p *simProcess) isToldResults(in simInput) {
	for _, r := range in.results {
		p.w.must("results are told to a conversation that is continued at their calls", slices.Contains(p.at, r.ToolUse),
			"%s, at %v", r.ToolUse, p.at)
		p.w.truth.told[r.ToolUse] = p.name()
		p.keep(talkEntry{uuid: in.uuid, call: r.ToolUse, answered: true, read: r.Text})
		p.told(r.Text)
	}
}

// replied reports whether a conversation has the results that it was told of, and the model has said something since,
// which its transcript has or its supervisor has heard: claude.RepliedIn, claude.SpokeIn.
func (t *talk) replied(d *supervisor.Delivery, heard bool) bool {
	i := slices.IndexFunc(t.entries, func(e talkEntry) bool { return e.uuid == d.UUID })
	return i >= 0 && (heard || slices.ContainsFunc(t.entries[i:], func(e talkEntry) bool {
		return !e.sub && e.call == "" && e.said != nil
	}))
}

// unreplied marks results at the end of the conversation of which the model has made nothing.
func (t *talk) unreplied() {
	for i := len(t.entries) - 1; i >= 0 && t.entries[i].said == nil; i-- {
		e := &t.entries[i]
		e.idle = e.idle || e.uuid != "" && e.call != ""
	}
}

// isSaid tells what the model of the main conversation itself says.
func isSaid(m procs.Message) bool {
	use, isCall := m.(procs.ToolUse)
	_, speaks := m.(procs.Text)
	return speaks || isCall && use.Parent == ""
}
