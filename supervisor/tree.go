package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
)

// This file is how the agents of a run hang together: whom an agent waits for, who is told of its end, and what a run
// comes to.

// Children returns the children of an agent, in the order in which they came.
func (s State) Children(id string) []*Agent {
	return s.agentsOf(s.indexed().children, id+within)
}

// Below reports whether an agent stands below another.
func (s State) Below(a *Agent, above string) bool {
	for a = s.Agents.Get(a.Parent); a != nil; a = s.Agents.Get(a.Parent) {
		if a.ID == above {
			return true
		}
	}
	return false
}

// backgroundEndUnreported reports whether a child's parent has not been told of its end: the words wait, or are on
// their way.
func (s State) backgroundEndUnreported(c *Agent) bool {
	parent := s.Agents.Get(c.Parent)
	if parent == nil {
		return false
	}
	if toldByClients(c.Delegated.Nested) {
		return true
	}
	told := func(say checkpoints.OutboxItem) bool { return say.Key == childKey(c) }
	return slices.ContainsFunc(parent.Outbox, told) || len(s.FindDeliveries(parent.ID, func(v *Delivery) bool {
		return undelivered(v) && slices.ContainsFunc(v.Messages, told)
	})) > 0
}

// outlives reports whether a child continues though its parent is being stopped: a group waits for it, and where the
// parent alone is stopped the child is put under another.
func (s State) outlives(c, p *Agent) bool {
	return p.Group && s.needed(c) || p.StopOnly && s.survivor(p) != nil
}

// needed reports whether the parent of an agent is not done before its end: it waits for it, or for one that comes
// after it.
func (s State) needed(c *Agent) bool {
	return gates(c) || slices.ContainsFunc(s.Children(c.Parent), func(o *Agent) bool {
		return !o.Status.Ended() && s.Launch(o.ID) == nil && slices.Contains(o.Delegated.After, c.ID) && s.needed(o)
	})
}

// survivor returns the next agent above one that goes on; nil if there is none.
func (s State) survivor(a *Agent) *Agent {
	for a = s.Agents.Get(a.Parent); a != nil; a = s.Agents.Get(a.Parent) {
		if !a.Status.Ended() && a.StopWanted == "" {
			return a
		}
	}
	return nil
}

// unended returns the agents that have not ended, without the root.
func (s State) unended() []*Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *Agent) bool { return a.ID == s.Run.Root || a.Status.Ended() })
}

// waitsForPerson returns the first agent that waits for a person, where nothing in the run can go on before that; nil
// where something can.
func (s State) waitsForPerson() *Agent {
	if s.indexed().active.Len() > 0 {
		return nil
	}
	var first *Agent
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

// decisive returns the agent whose end is that of the run: the root, or the worst of those that gate it.
func (s State) decisive() *Agent { return s.decisiveIn(s.Agents.Get(s.Run.Root)) }

// decisiveIn returns the agent whose end is that of one and all below it.
func (s State) decisiveIn(top *Agent) *Agent {
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
func (s State) follows(a *Agent) bool {
	p := s.Agents.Get(a.Parent)
	return p != nil && a.Status == checkpoints.Stopped && a.StopWanted == endOf(p) &&
		p.Status != checkpoints.Succeeded && p.Status != checkpoints.Partial
}

// counts reports whether an agent and all above it gate.
func (s State) counts(a *Agent) bool { return s.countsFor(s.Agents.Get(s.Run.Root), a) }

// countsFor reports whether an agent stands below another, or is it, and it and all between them gate.
func (s State) countsFor(top, a *Agent) bool {
	for ; a != nil && a.ID != top.ID; a = s.Agents.Get(a.Parent) {
		if !gates(a) {
			return false
		}
	}
	return a != nil
}

// gates reports whether the end of a child counts for those above it, and is waited for.
func gates(a *Agent) bool {
	return a.ContinuedBy == "" && (a.Delegated == nil || a.Delegated.Independence != checkpoints.Optional)
}

// waitsFor returns the children without which an agent is not done, and which live.
func (s State) waitsFor(id string) []*Agent {
	return slices.DeleteFunc(s.Children(id), func(c *Agent) bool { return c.Status.Ended() || !gates(c) })
}

// withClients returns the children of an agent that have clients, in the order in which they came.
func (s State) withClients(agent string) []*Agent {
	var found []*Agent
	for id := range s.indexed().clients.All() {
		if c := s.Agents.Get(id); c.Parent == agent {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *Agent) int { return a.Seq - b.Seq })
	return found
}

// endOf names the end of an agent as what stops those that it has started.
func endOf(a *Agent) string { return "the end of " + a.ID }

// FormerIDs are those that count as an agent's own beside its id: the person's, and of the agents whose conversation it
// continues, which has them.
func (s State) FormerIDs(agent string) []string {
	ids := slices.Clone(s.Config.AcceptIDs)
	for again := true; again; {
		again = false
		for _, a := range s.AllAgents() {
			if a.ContinuedBy == agent && a.ContinuedBy != "" && a.ID != agent && !slices.Contains(ids, a.ID) {
				ids, agent, again = append(ids, a.ID), a.ID, true
				break
			}
		}
	}
	return ids
}

// Labels name all agents of the run.
func (s State) Labels() label.Labels {
	l := label.Of(nil)
	for a := range s.Agents.Values() {
		l.Add(a)
	}
	return l
}

// Who names an agent for people in a few words, where a run has several; "" where it has one.
func (s State) Who(agent string) string {
	a := s.Agents.Get(agent)
	if a == nil || s.Agents.Len() < 2 {
		return ""
	}
	return label.Among(a, s.Agents.Values())
}
