package supervisor

import (
	"fmt"
	"slices"
	"time"
)

// Step returns the state after an event. It is pure: no clock, randomness, I/O or goroutine. An event that cannot
// happen panics (a bug: everything saved so far is kept); one that is merely unwelcome returns the state unchanged
// and an error that is ErrUnwelcome.
func Step(s State, h Happened) (State, error) {
	if _, first := h.Event.(Created); first != (s.Run == nil) {
		panic(fmt.Sprintf("supervisor: %T, but a run is created once, and first", h.Event))
	}
	d := NewTransition(s, h.At)
	if err := h.Event.apply(d); err != nil {
		return s, err
	}
	if unsupervised(h.Event) {
		d.plans = nil
	} else {
		d.reconcile()
		d.noticeQuiet(s)
	}
	d.reindex()
	d.replan(s)
	d.remember(h.Event)
	return d.State, nil
}

// Settled settles all agents of a state once more, at a time. What Step gives is settled already, and stays as it is
// but for reasons that people read; the simulation holds Step to that.
func Settled(s State, at time.Time) State {
	d := NewTransition(s, at)
	d.touchAll()
	d.reconcile()
	return d.State
}

// remember takes note of what a step has touched. An event that makes records in another way leaves nothing to go by.
func (d *transition) remember(e Event) {
	if unsupervised(e) {
		d.recent = nil
		return
	}
	recent := d.recent[max(0, len(d.recent)-mostRecent+1):]
	d.recent = append(slices.Clip(recent), &touch{d.touched, d.asked, d.said})
}

// mostRecent is how many steps a state remembers: more than the engine saves in one transaction, as a rule.
const mostRecent = 32
