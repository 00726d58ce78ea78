package records

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/task"
)

// A Caller is the agent in whose process tree a run is started.
type Caller struct {
	Run, Agent string
	Launch     int
	Cwd        string   // where it works
	Demo       string   // the scenario that the agents of its run play; "": they play none
	Exec       []string // the command that they run in claude's place
}

// A NestedRequest is what a run inside an agent has asked for, and who.
type NestedRequest struct {
	Run, Agent string // Agent is the id of the new agent, which may turn out to be one that is at work on this already
	Caller     Caller
	Again      bool // it was started before by the same agent, and goes on

	Seq         int64 // of the note
	Fingerprint string
	Work        task.Work
}

// NestedFor returns what has become of a nested run: its agent, or the question whether there may be one, which may be
// settled.
func (s Records) NestedFor(n *NestedRequest) (*checkpoints.Agent, *checkpoints.Question) {
	if c := s.Agents.Get(n.Agent); c != nil {
		return c, nil
	}
	if c := s.SameWork(n.Caller.Agent, n.Fingerprint); c != nil {
		return c, nil
	}
	if q := s.NestedQuestion(n.Caller.Agent, n.Fingerprint); q != nil {
		return s.Agents.Get(q.Child), q
	}
	if settled := s.FindQuestionsOf(n.Caller.Agent,
		func(q *checkpoints.Question) bool { return q.Child == n.Agent }); len(settled) > 0 {
		return nil, settled[0]
	}
	return nil, nil
}
