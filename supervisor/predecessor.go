package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/text"
)

// lacks names an agent that one comes after and that has not succeeded: it then cannot begin. A root begins all the
// same: it is told what became of each.
func (s State) lacks(a *Agent) *Agent {
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

// awaits says which agents an agent that has not begun comes after; "" if it may begin.
func (s State) awaits(a *Agent) string {
	var names []string
	for _, id := range s.comesAfter(a) {
		if p := s.Agents.Get(id); !p.Status.Ended() {
			names = append(names, label.Title(p))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "comes after " + text.JoinLimited(names)
}

// comesAfter returns the agents that one comes after: those that its task names, and its own children, which the task
// states: no other can have come before it has begun.
func (s State) comesAfter(a *Agent) []string {
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

// faultPredecessor is the failure of an agent that could not begin.
const faultPredecessor = "predecessor"

// predecessors hold an agent back that comes after others. One that has not succeeded fails it.
var predecessors = concern{name: "predecessors", idle: func(d *transition, of subject) bool {
	if p := d.lacks(of.Agent); p != nil {
		d.fail(of.ID, faultPredecessor,
			fmt.Sprintf("%s, which it comes after, has not succeeded: %s", label.Title(p), p.Status))
		d.finish(of.Agent, checkpoints.Failed, of.FaultReason)
		return true
	}
	why := d.awaits(of.Agent)
	if why != "" {
		d.setStatus(of.Agent, checkpoints.Blocked, why)
	}
	return why != ""
}}
