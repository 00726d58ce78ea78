package supervisor

import (
	"fmt"
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
		d.planAnew()
	} else {
		d.reconcile()
		d.noticeQuiet()
	}
	d.reindex()
	d.replan()
	return d.State, nil
}

// Reconciled reconciles all agents of a state once more, at a time. What Step returns is reconciled already, and stays
// as it is but for reasons that people read; the simulation holds Step to that.
func Reconciled(s State, at time.Time) State {
	d := NewTransition(s, at)
	d.touchAll()
	d.reconcile()
	return d.State
}
