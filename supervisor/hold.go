package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// wait holds the process for the person, or parks it at once.
func (d *transition) wait(a *Agent, l *Launch, open []*Question) {
	reason := "asks: " + text.FirstLine(open[0].Text)
	if n := len(open); n > 1 {
		reason = fmt.Sprintf("asks %d questions: %s", n, text.FirstLine(open[0].Text))
	}
	switch {
	case d.busy(l, open):
		a.HoldUntil = nil // parking would kill what is at work; it ends by itself
	case d.Config.Hold == 0 || !d.mayHold(a.ID):
		d.end(a.ID, endPark, "no process is held for a question")
		d.reconcileEnding(a, d.last(a.ID))
		return
	case d.Config.Hold == Forever, d.Config.Policy != Park && slices.ContainsFunc(open, d.asksForServer):
		a.HoldUntil = nil // what a server asks cannot be asked again by us
	case a.HoldUntil == nil:
		until := d.at.Add(holdFor(open, d.Config.Hold))
		a.HoldUntil = &until
	}
	d.setStatus(a, checkpoints.Waiting, reason)
}

// busy reports whether a process that waits for a person has other work as well.
func (d *transition) busy(l *Launch, open []*Question) bool {
	return l.BusyElsewhere || d.worksBeside(l, open)
}

// worksBeside reports whether something lives in the background that a person's answer should not cost its work:
// another subagent than those that ask and those that wait for them, and between turns anything. In the middle of a
// call a command does not count: it may be a server, which never ends.
func (d *transition) worksBeside(l *Launch, open []*Question) bool {
	waits := func(t checkpoints.Task) bool {
		return slices.ContainsFunc(open, func(q *Question) bool {
			call := d.heldCall(q)
			return call != nil && slices.ContainsFunc(call.From.Line(), func(sub *checkpoints.Subagent) bool {
				return sub.ID == t.ID || sub.ID == ""
			})
		})
	}
	return !l.Phase.InTurn() && len(l.WakeUps) > 0 || slices.ContainsFunc(l.Background, func(t checkpoints.Task) bool {
		return (t.Subagent || !l.Phase.InTurn()) && !waits(t)
	})
}

// mayHold reports whether one more process may be held under --max-held. One that is busy as well is not held: else it
// would have another parked that was held before it.
func (d *transition) mayHold(agent string) bool {
	if d.Config.MaxHeld < 0 {
		return true
	}
	held := 0
	for id, a := range d.Agents {
		if l := d.Live(id); id != agent && l != nil && l.End == "" && a.Status == checkpoints.Waiting &&
			!d.busy(l, d.Open(id)) {
			held++
		}
	}
	return held < d.Config.MaxHeld
}
