package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
)

// HeldBack returns the agents that go on only once a question is answered, in the order in which they came: the one
// that asks, if it waits, those above it that are not done before it, and those that come after any of these.
func (s State) HeldBack(q *Question) []*Agent {
	asker := s.Agents.Get(q.Agent)
	if q.State != checkpoints.QuestionOpen || asker == nil || !awaitsAPerson(asker) {
		return nil
	}
	held := map[string]bool{asker.ID: true}
	waits := func(a *Agent) bool {
		return (a.Status == checkpoints.Blocked || a.Status == checkpoints.Queued) && !held[a.ID] &&
			(slices.ContainsFunc(s.waitsFor(a.ID), func(c *Agent) bool { return held[c.ID] }) ||
				slices.ContainsFunc(s.comesAfter(a), func(id string) bool { return held[id] }))
	}
	for more := true; more; {
		more = false
		for a := range s.Agents.Values() {
			if waits(a) {
				held[a.ID], more = true, true
			}
		}
	}
	return slices.DeleteFunc(s.AllAgents(), func(a *Agent) bool { return !held[a.ID] })
}

// awaitsAPerson reports whether an agent does nothing until a person answers.
func awaitsAPerson(a *Agent) bool {
	return a.Status == checkpoints.Waiting || a.Status == checkpoints.Parked || a.Status == checkpoints.OverBudget
}
