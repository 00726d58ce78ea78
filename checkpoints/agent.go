package checkpoints

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Idles reports whether a process that lives does nothing but wait: for a person, or for the agent's children.
func (a *Agent) Idles(l *Launch) bool {
	return l.End == "" && (a.Status == Waiting || a.Status == Blocked && len(l.Alive()) == 0 &&
		l.Phase != LaunchTurnDue)
}

// Revivable reports whether resume goes on with an agent that has ended: one that reported has said its last word.
func (a *Agent) Revivable() bool {
	switch a.Status {
	case Unreported, Stopped:
		return true
	case Failed:
		return a.Fault != "" || a.Group
	case Partial:
		return a.Group
	}
	return false
}

// AwaitsPerson reports whether an agent does nothing until a person answers.
func (a *Agent) AwaitsPerson() bool {
	return a.Status == Waiting || a.Status == Parked || a.Status == OverBudget
}

// Queues reports whether an agent waits for a slot.
func (a *Agent) Queues() bool { return a.QueuedAt != nil && !a.Placing && !a.Status.Ended() }

// HasClients reports whether clients wait for the end of an agent, and tell it where it was started.
func (a *Agent) HasClients() bool { return a.Delegated != nil && a.Delegated.Nested.HasClients() }

// HasClients reports whether clients wait for something and tell it where they were started.
func (n *Nested) HasClients() bool { return n != nil && n.Clients > 0 }

// OwnReport takes from an agent that goes on a subagent's report, which an older release has taken for its own.
func (a *Agent) OwnReport() {
	if r := a.Report; r != nil && r.BySubagent && !a.Status.Ended() {
		a.Report = nil
		a.Parts = append(a.Parts, PartReport{N: len(a.Parts) + 1, Report: *r})
	}
}

// PartDue returns the first report of a subagent whose deliverables were not looked for.
func (a *Agent) PartDue() *PartReport {
	for i := range a.Parts {
		if !a.Parts[i].Checked {
			return &a.Parts[i]
		}
	}
	return nil
}

// Gates reports whether the end of a child counts for those above it, and is waited for.
func (a *Agent) Gates() bool {
	return a.ContinuedBy == "" && (a.Delegated == nil || a.Delegated.Independence != Optional)
}

// EndInWords names the end of an agent as what stops those that it has started.
func (a *Agent) EndInWords() string { return "the end of " + a.ID }

// Enqueue puts something among what waits to be said to an agent; false if it is there already, or another with the
// same answers.
func (a *Agent) Enqueue(s OutboxItem) bool {
	if slices.ContainsFunc(a.Outbox, func(o OutboxItem) bool {
		return o.Key == s.Key || s.Group != "" && o.Group == s.Group
	}) {
		return false
	}
	a.Outbox = append(slices.Clip(a.Outbox), s)
	return true
}

// Dequeue takes the answers of a group from what waits to be said to an agent.
func (a *Agent) Dequeue(group string) {
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s OutboxItem) bool { return s.Group == group })
}

// EndKey is the key under which a parent is told of the end of a child: of each of its ends, should it be revived. It
// may come to another end without having been launched again.
func (a *Agent) EndKey() string { return fmt.Sprintf(EndKeys+"%s %d", a.ID, a.EndedAt.UnixNano()) }

// EndKeys is what all these keys begin with, and no others.
const EndKeys = "child "

// ReportedIn reports whether an agent had reported in its last request: a budget that has ended the turn then has cut
// off nothing but its last words.
func (a *Agent) ReportedIn(l *Launch) bool {
	return a.Report != nil && l.Used != nil && l.Used.Reported
}

// Begins sets when an agent's work takes longer than its estimate, from its first start on.
func (a *Agent) Begins(at time.Time) {
	if a.Estimate > 0 && a.Overdue == nil {
		due := at.Add(a.Estimate)
		a.Overdue = &due
	}
}

// Unplace forgets where an agent works on another machine than this, and reports whether it had a folder of its own
// that did not come along. One in the run's folder did.
func (a *Agent) Unplace(from, to string) (lost bool) {
	cwd := a.Cwd
	if a.Placing {
		a.Status, a.Reason = Queued, "its folder is made ready here"
	}
	if a.Tidying {
		a.Status, a.Reason = Interrupted, "ends; its worktree did not come along"
	}
	if a.Worktree != nil {
		cwd, lost = a.Worktree.From, a.Worktree.Path != ""
	}
	a.Workplace = Workplace{}
	if rel, err := filepath.Rel(from, cwd); cwd != "" && err == nil && filepath.IsLocal(rel) {
		a.Cwd = filepath.Join(to, rel)
	}
	return lost
}
