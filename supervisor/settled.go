package supervisor

import "time"

// Settled settles all agents of a state once more, at a time. What Step gives is settled already, and stays as it is
// but for reasons that people read; the simulation holds Step to that.
func Settled(s State, at time.Time) State {
	d := NewTransition(s, at)
	d.touchAll()
	d.reconcile()
	return d.State
}
