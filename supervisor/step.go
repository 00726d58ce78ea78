package supervisor

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnwelcome is the error of an event that comes too late or twice and changes nothing: an answer to a question
// that is closed, a receipt of a launch that is over.
var ErrUnwelcome = errors.New("unwelcome event")

func unwelcome(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnwelcome, fmt.Sprintf(format, args...))
}

// Step gives the state after an event. It is pure: no clock, randomness, I/O or goroutine. An event that cannot
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
	if !unsupervised(h.Event) {
		d.reconcile()
		d.noticeQuiet(s)
	}
	d.reindex()
	d.replan(s, h.Event)
	d.remember(h.Event)
	return d.State, nil
}

// unsupervised reports whether an event happens to a run that nobody supervises: nothing follows from it before
// somebody does.
func unsupervised(e Event) bool {
	switch e.(type) {
	case Created, Packed, Unpacked:
		return true
	}
	return false
}

// Settled settles all agents of a state once more, at a time. What Step gives is settled already, and stays as it is
// but for reasons that people read; the simulation holds Step to that.
func Settled(s State, at time.Time) State {
	d := NewTransition(s, at)
	d.touchAll()
	d.reconcile()
	return d.State
}
