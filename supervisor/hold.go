package supervisor

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/text"
)

// asking holds an agent back that waits for a person.
var asking = concern{
	name: "asking",
	live: func(d *transition, of subject) bool {
		if len(of.open) > 0 {
			d.wait(of)
		}
		return len(of.open) > 0
	},
	idle: func(d *transition, of subject) bool {
		if len(of.open) > 0 {
			d.idleStatus(of.Agent, of.launch, of.open)
		}
		return len(of.open) > 0
	},
	plan: func(_ State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l.Works() && a.HoldUntil != nil {
			e := effect.Hold.Of(l)
			e.Until = *a.HoldUntil
			so = append(so, e)
		}
		return so
	},
}

// wait holds the process for the person, or parks it at once.
func (d *transition) wait(of subject) {
	a, l, open := of.Agent, of.launch, of.open
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
	default:
		switch hold, ends := d.patience(open); {
		case !ends:
			a.HoldUntil = nil
		case a.HoldUntil == nil:
			until := d.at.Add(hold)
			a.HoldUntil = &until
		}
	}
	d.setStatus(a, checkpoints.Waiting, reason)
}

// Patience is for how long an agent's process waits for the answers to what the agent asks, once it does nothing else,
// until it is parked; ends is false where that is until it is answered.
func (s State) Patience(agent string) (hold time.Duration, ends bool) {
	open := s.Open(agent)
	if len(open) == 0 {
		open = s.Assuming(agent)
	}
	return s.patience(open)
}

func (s State) patience(open []*Question) (hold time.Duration, ends bool) {
	switch {
	case s.Config.Hold == 0, len(open) == 0:
		return 0, true
	case s.Config.Hold == conf.Forever:
		return 0, false
	case s.Config.Policy != conf.Park && slices.ContainsFunc(open, s.asksForServer): // that cannot be asked again by us
		return 0, false
	}
	hold = ask.HoldFor(open, s.Config.Hold)
	if s.parksFree(open) {
		hold = min(hold, s.Config.Hold/5*startWaits)
	}
	return hold, true
}

// startWaits is for how long a process waits where a park costs no more than another start, in fifths of the hold: of
// the usual five minutes two, in which a process that waits uses as much of the processor as one that starts.
const startWaits = 2

// busy reports whether a process that waits for a person has other work as well.
func (d *transition) busy(l *Launch, open []*Question) bool {
	return l.BusyElsewhere || d.WorksBeside(l, open)
}

// mayHold reports whether one more process may be held under --max-held. One that is busy as well is not held: else it
// would have another parked that was held before it.
func (d *transition) mayHold(agent string) bool {
	if d.Config.MaxHeld < 0 {
		return true
	}
	held := 0
	for id, a := range d.Agents.All() {
		if l := d.Live(id); id != agent && l != nil && l.End == "" && a.Status == checkpoints.Waiting &&
			!d.busy(l, d.Open(id)) {
			held++
		}
	}
	return held < d.Config.MaxHeld
}

// HoldEnded says that a process has waited long enough.
type HoldEnded struct {
	Agent  string
	Launch int
}

var _ = kind[HoldEnded]("hold_ended")

func (e HoldEnded) apply(d *transition) error {
	l := d.Live(e.Agent)
	if l == nil || l.N != e.Launch || l.End != "" || d.Agents.Get(e.Agent).HoldUntil == nil {
		return unwelcome("%s does not hold any more", e.Agent)
	}
	d.end(e.Agent, endPark, "the hold ended")
	return nil
}
