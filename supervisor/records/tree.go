package records

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/text"
)

// AtWork reports whether an agent or any below it has a process that does not merely wait.
func (s Records) AtWork(id string) bool {
	if l := s.Live(id); l != nil && !s.Agents.Get(id).Idles(l) {
		return true
	}
	for _, c := range s.Children(id) {
		if s.AtWork(c.ID) {
			return true
		}
	}
	return false
}

// HeldBack returns the agents that go on only once a question is answered, in the order in which they came: the one
// that asks, if it waits, those above it that are not done before it, and those that come after any of these.
func (s Records) HeldBack(q *checkpoints.Question) []*checkpoints.Agent {
	asker := s.Agents.Get(q.Agent)
	if q.State != checkpoints.QuestionOpen || asker == nil || !asker.AwaitsPerson() {
		return nil
	}
	waiting := map[string][]string{} // by agent, those that wait for it
	for a := range s.Agents.Values() {
		if a.Status != checkpoints.Blocked && a.Status != checkpoints.Queued {
			continue
		}
		for _, c := range s.WaitsFor(a.ID) {
			waiting[c.ID] = append(waiting[c.ID], a.ID)
		}
		for _, id := range s.ComesAfter(a) {
			waiting[id] = append(waiting[id], a.ID)
		}
	}
	held := map[string]bool{}
	for next := []string{asker.ID}; len(next) > 0; {
		id := next[0]
		if next = next[1:]; !held[id] {
			held[id] = true
			next = append(next, waiting[id]...)
		}
	}
	return slices.DeleteFunc(s.AllAgents(), func(a *checkpoints.Agent) bool { return !held[a.ID] })
}

// Lacks names an agent that one comes after and that has not succeeded: it then cannot begin. A root begins all the
// same: it is told what became of each.
func (s Records) Lacks(a *checkpoints.Agent) *checkpoints.Agent {
	if a.Delegated == nil || s.Launch(a.ID) != nil {
		return nil
	}
	for _, id := range a.Delegated.After {
		if p := s.Agents.Get(id); p.Status.Ended() && p.Status != checkpoints.Succeeded && p.Status != checkpoints.Partial &&
			p.ContinuedBy == "" {
			return p
		}
	}
	return nil
}

// Awaits says which agents an agent that has not begun comes after; "" if it may begin.
func (s Records) Awaits(a *checkpoints.Agent) string {
	var names []string
	for _, id := range s.ComesAfter(a) {
		if p := s.Agents.Get(id); !p.Status.Ended() {
			names = append(names, label.Title(p))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "comes after " + text.JoinLimited(names)
}

// ComesAfter returns the agents that one comes after: those that its task names, and its own children, which the task
// states: no other can have come before it has begun.
func (s Records) ComesAfter(a *checkpoints.Agent) []string {
	if s.Launch(a.ID) != nil {
		return nil
	}
	var ids []string
	if a.Delegated != nil {
		ids = slices.Clone(a.Delegated.After)
	}
	for _, c := range s.Children(a.ID) {
		if c.Gates() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Children returns the children of an agent, in the order in which they came.
func (s Records) Children(id string) []*checkpoints.Agent {
	return s.agentsOf(s.indexed().children, id+within)
}

// Below reports whether an agent stands below another.
func (s Records) Below(a *checkpoints.Agent, above string) bool {
	for a = s.Agents.Get(a.Parent); a != nil; a = s.Agents.Get(a.Parent) {
		if a.ID == above {
			return true
		}
	}
	return false
}

// EndUntold reports whether a child's parent has not been told of its end: the words wait, or are on
// their way.
func (s Records) EndUntold(c *checkpoints.Agent) bool {
	parent := s.Agents.Get(c.Parent)
	if parent == nil {
		return false
	}
	if c.Delegated.Nested.HasClients() {
		return true
	}
	told := func(say checkpoints.OutboxItem) bool { return say.Key == c.EndKey() }
	return slices.ContainsFunc(parent.Outbox, told) || len(s.FindDeliveries(parent.ID, func(v *checkpoints.Delivery) bool {
		return v.Undelivered() && slices.ContainsFunc(v.Messages, told)
	})) > 0
}

// Outlives reports whether a child continues though its parent is being stopped: a group waits for it, and where the
// parent alone is stopped the child is put under another.
func (s Records) Outlives(c, p *checkpoints.Agent) bool {
	return p.Group && s.needed(c) || p.StopOnly && s.Survivor(p) != nil
}

// needed reports whether the parent of an agent is not done before its end: it waits for it, or for one that comes
// after it.
func (s Records) needed(c *checkpoints.Agent) bool {
	return c.Gates() || slices.ContainsFunc(s.Children(c.Parent), func(o *checkpoints.Agent) bool {
		return !o.Status.Ended() && s.Launch(o.ID) == nil && slices.Contains(o.Delegated.After, c.ID) && s.needed(o)
	})
}

// Survivor returns the next agent above one that goes on; nil if there is none.
func (s Records) Survivor(a *checkpoints.Agent) *checkpoints.Agent {
	for a = s.Agents.Get(a.Parent); a != nil; a = s.Agents.Get(a.Parent) {
		if !a.Status.Ended() && a.StopWanted == "" {
			return a
		}
	}
	return nil
}

// Unended returns the agents that have not ended, without the root.
func (s Records) Unended() []*checkpoints.Agent {
	return slices.DeleteFunc(s.AllAgents(),
		func(a *checkpoints.Agent) bool { return a.ID == s.Run.Root || a.Status.Ended() })
}

// WaitsForPerson returns the first agent that waits for a person, where nothing in the run can go on before that; nil
// where something can.
func (s Records) WaitsForPerson() *checkpoints.Agent {
	if s.indexed().active.Len() > 0 {
		return nil
	}
	var first *checkpoints.Agent
	for a := range s.Agents.Values() {
		switch {
		case a.Status.Ended():
		case a.Status == checkpoints.Parked, a.Status == checkpoints.OverBudget:
			if first == nil || a.Seq < first.Seq {
				first = a
			}
		case a.Status != checkpoints.Blocked:
			return nil
		}
	}
	return first
}

// Decisive returns the agent whose end is that of the run: the root, or the worst of those that gate it.
func (s Records) Decisive() *checkpoints.Agent { return s.DecisiveIn(s.Agents.Get(s.Run.Root)) }

// DecisiveIn returns the agent whose end is that of one and all below it.
func (s Records) DecisiveIn(top *checkpoints.Agent) *checkpoints.Agent {
	worst := top
	for _, a := range s.AllAgents() {
		if s.countsFor(top, a) && a.Status.Ended() && !s.follows(a) &&
			slices.Index(exit.ByWorst, exit.Code(a)) < slices.Index(exit.ByWorst, exit.Code(worst)) {
			worst = a
		}
	}
	return worst
}

// follows reports whether an agent was stopped for no other reason than that the one above it has ended badly, which
// says more: what a used-up budget fails ends by the budget, and not as stopped by a person.
func (s Records) follows(a *checkpoints.Agent) bool {
	p := s.Agents.Get(a.Parent)
	return p != nil && a.Status == checkpoints.Stopped && a.StopWanted == p.EndInWords() &&
		p.Status != checkpoints.Succeeded && p.Status != checkpoints.Partial
}

// Counts reports whether an agent and all above it gate.
func (s Records) Counts(a *checkpoints.Agent) bool { return s.countsFor(s.Agents.Get(s.Run.Root), a) }

// countsFor reports whether an agent stands below another, or is it, and it and all between them gate.
func (s Records) countsFor(top, a *checkpoints.Agent) bool {
	for ; a != nil && a.ID != top.ID; a = s.Agents.Get(a.Parent) {
		if !a.Gates() {
			return false
		}
	}
	return a != nil
}

// WaitsFor returns the children without which an agent is not done, and which live.
func (s Records) WaitsFor(id string) []*checkpoints.Agent {
	return slices.DeleteFunc(s.Children(id), func(c *checkpoints.Agent) bool { return c.Status.Ended() || !c.Gates() })
}

// WithClients returns the children of an agent that have clients, in the order in which they came.
func (s Records) WithClients(agent string) []*checkpoints.Agent {
	var found []*checkpoints.Agent
	for id := range s.indexed().clients.All() {
		if c := s.Agents.Get(id); c.Parent == agent {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *checkpoints.Agent) int { return a.Seq - b.Seq })
	return found
}

// Labels name all agents of the run.
func (s Records) Labels() label.Labels {
	l := label.Of(nil)
	for a := range s.Agents.Values() {
		l.Add(a)
	}
	return l
}

// Who names an agent for people in a few words, where a run has several; "" where it has one.
func (s Records) Who(agent string) string {
	a := s.Agents.Get(agent)
	if a == nil || s.Agents.Len() < 2 {
		return ""
	}
	return label.Among(a, s.Agents.Values())
}

// TaskAbove names the agent that has a task itself and delegates it, or stands above the one that does; "" if none.
func (s Records) TaskAbove(a *checkpoints.Agent, task string) string {
	who := "yourself"
	for ; a != nil; a = s.Agents.Get(a.Parent) {
		if own, _, _ := strings.Cut(a.Task, "\n\n## "); text.SameWords(own, task) || text.SameWords(a.Task, task) {
			return who
		}
		who = a.ID + ", who started the work above you"
	}
	return ""
}

// CameTo says what the work of a group has come to, once it has ended: to what the worst of its tasks has.
func (s Records) CameTo(group string) (status checkpoints.Status, reason string) {
	status, reason = checkpoints.Succeeded, "all its tasks succeeded"
	all, bad := 0, 0
	keptBack := false // what is told of could not begin for what went wrong with another
	for _, c := range s.Children(group) {
		if !c.Gates() {
			continue
		}
		all++
		if c.Status != checkpoints.Succeeded {
			bad++
		}
		if exit.Worse(c, status) || keptBack && c.Status == status && c.Fault != FaultPredecessor {
			status, reason = c.Status, fmt.Sprintf("%s: %s", label.Title(c), c.Reason)
			keptBack = c.Fault == FaultPredecessor
		}
	}
	if bad > 1 {
		reason = fmt.Sprintf("%d of %d tasks have not succeeded, among them %s", bad, all, reason)
	}
	return status, reason
}

// AgentList names the agents of the run that still live.
func (s Records) AgentList() string {
	var ids []string
	for _, a := range s.AllAgents() {
		if !a.Status.Ended() {
			ids = append(ids, a.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// FaultPredecessor is the failure of an agent that could not begin.
const FaultPredecessor = "predecessor"
