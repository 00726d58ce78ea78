package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// This file is how the agents of a run hang together: whom an agent waits for, who is told of its end, and what a run
// comes to.

// Children gives the children of an agent, in the order in which they came.
func (s State) Children(id string) []*Agent {
	ids := s.indexed().children[id]
	cs := make([]*Agent, len(ids))
	for i, id := range ids {
		cs[i] = s.Agents[id]
	}
	return cs
}

// Below reports whether an agent stands below another.
func (s State) Below(a *Agent, above string) bool {
	for a = s.Agents[a.Parent]; a != nil; a = s.Agents[a.Parent] {
		if a.ID == above {
			return true
		}
	}
	return false
}

// gates reports whether the end of a child counts for those above it, and is waited for.
func gates(a *Agent) bool {
	return a.ContinuedBy == "" && (a.Delegated == nil || a.Delegated.Independence != checkpoints.Optional)
}

// waitsFor gives the children without which an agent is not done, and which live.
func (s State) waitsFor(id string) []*Agent {
	return slices.DeleteFunc(s.Children(id), func(c *Agent) bool { return c.Status.Ended() || !gates(c) })
}

// faultPredecessor is the failure of an agent that could not begin.
const faultPredecessor = "predecessor"

// childKey is the key under which a parent is told of the end of a child: of each of its ends, should it be revived. It
// may come to another end without having been launched again.
func childKey(c *Agent) string { return fmt.Sprintf(childKeys+"%s %d", c.ID, c.EndedAt.UnixNano()) }

// childKeys is what all these keys begin with, and no others.
const childKeys = "child "

// backgroundEndUnreported reports whether a child's parent has not been told of its end: the words wait, or are on
// their way.
func (s State) backgroundEndUnreported(c *Agent) bool {
	parent := s.Agents[c.Parent]
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

// tellParent puts the end of a child among what is to be said to its parent, unless clients tell it where they were
// started.
func (d *transition) tellParent(c *Agent) {
	if p := d.Agents[c.Parent]; p != nil && !p.Status.Ended() && !p.Group && !toldByClients(c.Delegated.Nested) {
		said := *c.Delegated
		said.Told = true
		c.Delegated = &said
		d.touch(p.ID)
		if d.inPool(c) {
			return
		}
		enqueue(d.agent(p.ID), checkpoints.OutboxItem{Key: childKey(c), From: c.ID, At: d.at,
			Text: d.childEnded(c) + prompts.ResumeStep(c)})
	}
}

// orphan stops what an agent has started and that still lives when the agent itself ends: nobody would hear of it.
// Where a person has stopped the agent alone, whoever stands above it does.
func (d *transition) orphan(a *Agent) {
	above := d.survivor(a)
	for _, c := range d.Children(a.ID) {
		switch {
		case c.Status.Ended():
		case a.StopOnly && above != nil:
			d.adopt(c, above)
		case c.StopWanted == "":
			d.agent(c.ID).StopWanted = endOf(a)
			d.touch(c.ID)
		}
	}
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

// survivor gives the next agent above one that goes on; nil if there is none.
func (s State) survivor(a *Agent) *Agent {
	for a = s.Agents[a.Parent]; a != nil; a = s.Agents[a.Parent] {
		if !a.Status.Ended() && a.StopWanted == "" {
			return a
		}
	}
	return nil
}

// adopt puts an agent under another, which hears of its end. It goes on where it works.
func (d *transition) adopt(c, above *Agent) {
	folder := d.Folder(c.ID)
	c = d.agent(c.ID)
	d.add().move(c, above.ID)
	if c.Parent = above.ID; d.Folder(c.ID) != folder {
		c.Cwd = folder
	}
	d.touch(c.ID)
	d.touch(above.ID)
}

// concern has those settled that an agent's end concerns: its parent, and what comes after it.
func (d *transition) concern(a *Agent) {
	if a.Parent != "" {
		d.touch(a.Parent)
	}
	for id, other := range d.Agents {
		if other.Delegated != nil && slices.Contains(other.Delegated.After, a.ID) {
			d.touch(id)
		}
	}
}

// endOf names the end of an agent as what stops those that it has started.
func endOf(a *Agent) string { return "the end of " + a.ID }

// awaits says which agents an agent that has not begun comes after; "" if it may begin.
func (s State) awaits(a *Agent) string {
	var names []string
	for _, id := range s.predecessors(a) {
		if p := s.Agents[id]; !p.Status.Ended() {
			names = append(names, Title(p))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "comes after " + text.JoinLimited(names)
}

// predecessors gives the agents that one comes after: those that its task names, and its own children, which the task
// states: no other can have come before it has begun.
func (s State) predecessors(a *Agent) []string {
	if s.Launch(a.ID) != nil {
		return nil
	}
	var ids []string
	if a.Delegated != nil {
		ids = slices.Clone(a.Delegated.After)
	}
	for _, c := range s.Children(a.ID) {
		if gates(c) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// lacks names an agent that one comes after and that has not succeeded: it then cannot begin. A root begins all the
// same: it is told what became of each.
func (s State) lacks(a *Agent) *Agent {
	if a.Delegated == nil || s.Launch(a.ID) != nil {
		return nil
	}
	for _, id := range a.Delegated.After {
		if p := s.Agents[id]; p.Status.Ended() && p.Status != checkpoints.Succeeded && p.Status != checkpoints.Partial &&
			p.ContinuedBy == "" {
			return p
		}
	}
	return nil
}

// Title names an agent for people: as its task file does, else by its id.
func Title(a *Agent) string {
	if a.Delegated != nil && a.Delegated.Name != "" {
		return a.Delegated.Name + " (" + a.ID + ")"
	}
	return a.ID
}

// reconcileGroup settles an agent that is nothing but its children.
func (d *transition) reconcileGroup(id string) {
	a := d.agent(id)
	live := titles(d.waitsFor(id))
	switch {
	case a.StopWanted != "" && slices.ContainsFunc(d.waitsFor(id), func(c *Agent) bool { return c.StopWanted == "" }):
		d.setStatus(a, checkpoints.Blocked, "stopped by "+a.StopWanted+"; "+waitsForChildren(live))
	case a.StopWanted != "" && len(live) > 0:
		d.setStatus(a, checkpoints.Stopping, "stopped by "+a.StopWanted)
	case a.StopWanted != "":
		d.finish(a, checkpoints.Stopped, "stopped by "+a.StopWanted)
	case len(live) > 0 && d.Run.Leaving == LeavingInterrupted:
		d.setStatus(a, checkpoints.Interrupted, "the supervisor was interrupted")
	case len(live) > 0:
		d.setStatus(a, checkpoints.Blocked, waitsForChildren(live))
	default:
		status, reason := d.cameTo(id)
		a.FaultReason = "" // of a group the children alone tell
		d.finish(a, status, reason)
	}
}

// cameTo says what the work of a group has come to, once it has ended: to what the worst of its tasks has.
func (s State) cameTo(group string) (status Status, reason string) {
	status, reason = checkpoints.Succeeded, "all its tasks succeeded"
	all, bad := 0, 0
	keptBack := false // what is told of could not begin for what went wrong with another
	for _, c := range s.Children(group) {
		if !gates(c) {
			continue
		}
		all++
		if c.Status != checkpoints.Succeeded {
			bad++
		}
		if worse(c, status) || keptBack && c.Status == status && c.Fault != faultPredecessor {
			status, reason = c.Status, fmt.Sprintf("%s: %s", Title(c), c.Reason)
			keptBack = c.Fault == faultPredecessor
		}
	}
	if bad > 1 {
		reason = fmt.Sprintf("%d of %d tasks have not succeeded, among them %s", bad, all, reason)
	}
	return status, reason
}

// waitForChildren keeps a process that has nothing to do until its children have ended, as long as one is held.
func (d *transition) waitForChildren(a *Agent, l *Launch) {
	switch {
	case d.Config.Hold == 0:
		d.end(a.ID, endPark, "no process is held for its children")
		d.reconcileEnding(a, l)
		return
	case d.Config.Hold == Forever:
		a.HoldUntil = nil
	case a.HoldUntil == nil:
		until := d.at.Add(d.Config.Hold)
		a.HoldUntil = &until
	}
	d.setStatus(a, checkpoints.Blocked, waitsForChildren(titles(d.waitsFor(a.ID))))
}

// unended gives the agents that have not ended, without the root.
func (s State) unended() []*Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *Agent) bool { return a.ID == s.Run.Root || a.Status.Ended() })
}

// waitsForPerson gives the first agent that waits for a person, where nothing in the run can go on before that; nil
// where something can.
func (s State) waitsForPerson() *Agent {
	if len(s.indexed().active) > 0 {
		return nil
	}
	var first *Agent
	for _, a := range s.Agents {
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

func titles(as []*Agent) []string {
	var names []string
	for _, a := range as {
		names = append(names, Title(a))
	}
	return names
}

func waitsForChildren(names []string) string { return "waits for " + text.JoinLimited(names) }

// ByWorst are exit codes, the worst first.
var ByWorst = []int{
	ExitInternal, ExitNoAgent, ExitFailed, ExitUnreported, ExitStopped, ExitBudget, ExitInterrupted,
	ExitParked, ExitPartial, ExitSuccess,
}

// worse reports whether the end of an agent is worse than a status.
func worse(a *Agent, than Status) bool {
	return slices.Index(ByWorst, ExitCode(a)) < slices.Index(ByWorst, ExitCode(&Agent{Status: than}))
}

// decisive gives the agent whose end is that of the run: the root, or the worst of those that gate it.
func (s State) decisive() *Agent { return s.decisiveIn(s.Agents[s.Run.Root]) }

// decisiveIn gives the agent whose end is that of one and all below it.
func (s State) decisiveIn(top *Agent) *Agent {
	worst := top
	for _, a := range s.AllAgents() {
		if s.countsFor(top, a) && a.Status.Ended() && !s.follows(a) &&
			slices.Index(ByWorst, ExitCode(a)) < slices.Index(ByWorst, ExitCode(worst)) {
			worst = a
		}
	}
	return worst
}

// follows reports whether an agent was stopped for no other reason than that the one above it has ended badly, which
// says more: what a used-up budget fails ends by the budget, and not as stopped by a person.
func (s State) follows(a *Agent) bool {
	p := s.Agents[a.Parent]
	return p != nil && a.Status == checkpoints.Stopped && a.StopWanted == endOf(p) &&
		p.Status != checkpoints.Succeeded && p.Status != checkpoints.Partial
}

// counts reports whether an agent and all above it gate.
func (s State) counts(a *Agent) bool { return s.countsFor(s.Agents[s.Run.Root], a) }

// countsFor reports whether an agent stands below another, or is it, and it and all between them gate.
func (s State) countsFor(top, a *Agent) bool {
	for ; a != nil && a.ID != top.ID; a = s.Agents[a.Parent] {
		if !gates(a) {
			return false
		}
	}
	return a != nil
}
