package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// reconcile concludes what follows from the facts after an event: the status of each agent that it touches and what is
// begun for it, then the run's. It is the same after any event and after a crash, which is why recovery needs no code
// of its own.
func (d *transition) reconcile() {
	d.concernScopes()
	for id := d.unreconciled(); id != ""; id = d.unreconciled() {
		d.reconciled[id] = true
		if d.Agents.Get(id).Status.Ended() {
			continue
		}
		d.reconcileAgent(id)
		if a := d.Agents.Get(id); a.Status.Ended() {
			d.concern(a)
		}
	}
	d.reindex()
	d.dispatch()
	d.reindex()
	d.withdrawBudgets()
	d.reconcileRun()
}

// unreconciled returns an agent of which something has changed since it was reconciled, "" if there is none: children
// come before their parents, who are told of their ends.
func (d *transition) unreconciled() string {
	next := ""
	for id := range d.touched {
		if !d.reconciled[id] && (next == "" || d.Agents.Get(id).Seq > d.Agents.Get(next).Seq) {
			next = id
		}
	}
	return next
}

// reconcileRun sets the run's status to its root's, and whether its supervisor may leave.
func (d *transition) reconcileRun() {
	root := d.Agents.Get(d.Run.Root)
	r := d.run()
	status, reason := root.Status, root.Reason
	ended := false
	if !root.Status.Ended() {
		if a := d.WaitsForPerson(); a != nil && a != root {
			status, reason = a.Status, label.Title(a)+" "+a.Reason
		}
	} else if left := d.Unended(); len(left) > 0 {
		status, reason = checkpoints.Stopping, "ends what is left: "+text.JoinLimited(label.Titles(left))
	} else if ended = true; d.Decisive() != root {
		worst := d.Decisive()
		status, reason = worst.Status, label.Title(worst)+": "+worst.Reason
	}
	if r.Status != status {
		r.Since = d.at
	}
	r.Status, r.Reason = status, reason
	if r.Left != "" {
		return
	}
	if d.AnyActive() {
		if r.Leaving != records.LeavingInterrupted {
			r.Leaving = ""
		}
		return
	}
	switch {
	case r.TakenOver != nil: // how it ends is known elsewhere
	case ended:
		r.Leaving = records.LeavingEnded
		if !d.mergeDue() { // else a supervisor that dies now would leave an ended run to which nobody comes back
			code := exit.Code(d.Decisive())
			r.EndedAt, r.ExitCode = root.EndedAt, &code
		}
	case r.Leaving == records.LeavingInterrupted:
	case d.WaitsForPerson() != nil && d.Config.Policy == conf.Park:
		r.Leaving = records.LeavingParked
	default:
		r.Leaving = ""
	}
}
