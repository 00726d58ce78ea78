package supervisor

import (
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
)

// A concern is one thing for which an agent is held back, or kept at work: its budget, a question, its children. It
// decides what that makes of the agent's status, what ought to be under way by it, and what is told of it. Each is in
// the file of its subject; the list of them (status.go) is the specification of an agent's status.
type concern struct {
	name string

	// decided does what a person has answered to the questions of the concern, before anything else is concluded.
	decided func(d *transition, agent string)

	// What the concern makes of an agent that has a process or may have one, of one that has none, and of one that is
	// nothing but its children. Each reports whether the agent is what it is by this: the concerns below then have no
	// say. nil: it has no say itself.
	live, idle, group say

	// plan adds what ought to be under way for an agent by the concern to so, all that ought to be by those above. Launch
	// is its last, nil where nothing is to be done about it; planRun is the same of all agents in one.
	plan    func(s State, a *Agent, launch *Launch, so []effect.Effect) []effect.Effect
	planRun func(s State) []effect.Effect

	// tells tells who watches what an event has come to, beside the status of agents and what is asked and answered.
	tells func(before, after State, e Event, tell notice.Teller)

	holds  bool // a process that lives is held for it, until the hold ends
	queues bool // an agent without a process keeps its place among those that wait for a slot
}

// A say concludes what an agent is, and reports whether it is that.
type say func(d *transition, of subject) bool

// A subject is an agent whose status is concluded.
type subject struct {
	*Agent             // to change
	launch *Launch     // the last one, to change where it lives; nil before the first
	open   []*Question // that it waits for, oldest first
}

// setStatus sets an agent's status with its reason; since when is kept while the status stays.
func (d *transition) setStatus(a *Agent, status Status, reason string) {
	if a.Status != status {
		a.Since = d.at
	}
	a.Status, a.Reason = status, reason
}
