package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
)

// maxHeldBack is how long a snapshot may hold back what is said to agents: a disk may not answer. What it has of the
// agents' files may then be of two moments, and it counts as failed.
const maxHeldBack = 10 * time.Second

// maxSnapshotDelay is how long the first snapshot is put off until the agents' files were read beforehand. The run goes
// on meanwhile, and the snapshot is of the moment in which it is taken.
const maxSnapshotDelay = time.Minute

// putOff reports whether a snapshot is not begun yet. A supervisor that leaves has nobody to hold back, and does not
// put it off: its end is bounded as that of every effect. One that has failed is begun again with a tick of the loop; a
// clock that was set back puts it off no longer.
func (e *engine) putOff(f effect.Effect) bool {
	if f.Do != effect.Snapshot {
		return false
	}
	wait := f.Until.Sub(e.Now())
	return e.snapshotReady != nil && e.state.Run.Leaving == "" || wait > 0 && wait <= supervisor.SnapshotAgainMost
}

// capturing is a snapshot that reads what may change.
type capturing struct {
	key  string        // of its effect
	done chan struct{} // closed when it has read that
}

// snapshot takes a snapshot. Until it has captured what may change, nothing is said to agents and no turn is begun.
func (e *engine) snapshot(f effect.Effect) func(context.Context) result {
	s, seq := e.state, e.seq
	captured := make(chan struct{})
	e.capturing = capturing{key: f.Key, done: captured}
	return func(ctx context.Context) result {
		begun, held, late := time.Now(), time.Duration(0), false
		var once sync.Once
		release := func() {
			once.Do(func() {
				held = time.Since(begun)
				close(captured)
			})
		}
		timer := time.AfterFunc(maxHeldBack, func() {
			once.Do(func() {
				late, held = true, maxHeldBack
				close(captured)
			})
		})
		defer timer.Stop()
		b := e.Snapshot(ctx, s, seq, release)
		release()
		if b.Quiet = s.Run.Snapshots.Quiet; !s.SnapshotTaken() {
			b.Quiet = 0
		}
		b.Asked, b.Held = s.SnapshotsAsked(), held
		if b.Unleased != "" {
			b.Quiet = 0
			e.recheckLease()
		}
		if late && b.Problem == "" {
			b.Problem = "the run's files could not be read in " + maxHeldBack.String()
		}
		return result{event: b}
	}
}

func (e *engine) snapshotGivenUp(_ effect.Effect, why string) supervisor.Event {
	b := supervisor.Snapshotted{Asked: e.state.SnapshotsAsked(), Problem: why, At: e.Now()}
	if e.state.SnapshotTaken() {
		b.Quiet = e.state.Run.Snapshots.Quiet
	}
	return b
}

// heldBack reports whether an effect has to wait until the snapshot in flight has captured the run. One that was given
// up is in flight no more: what it still reads counts for nothing.
func (e *engine) heldBack(do effect.Kind) bool {
	return e.inflight[e.capturing.key] != nil && do.NeedsLease()
}

// leased does an effect only if the run is still this supervisor's. A launch of a supervisor that leaves never ran.
func (e *engine) leased(f effect.Effect, act func(context.Context) result) func(context.Context) result {
	leaves := e.state.Run.Leaving == records.LeavingInterrupted
	return func(ctx context.Context) result {
		err := e.Lease.Check(ctx)
		switch {
		case err == nil:
			return act(ctx)
		case f.Do == effect.Launch && leaves:
			return result{event: supervisor.Ended{Agent: f.Agent, Launch: f.Launch, Outcome: "never ran: " + err.Error()}}
		}
		e.recheckLease()
		return result{event: leaseRead(err)}
	}
}

// recheckLease has the lease looked at more often, until it is known whose the run is.
func (e *engine) recheckLease() {
	select {
	case e.unsure <- struct{}{}:
	default:
	}
}

// leaseRead returns the event of what a lease has said.
func leaseRead(err error) supervisor.LeaseRead {
	var over *checkpoints.TakenOverError
	switch {
	case err == nil:
		return supervisor.LeaseRead{}
	case errors.As(err, &over):
		return supervisor.LeaseRead{Over: &over.Over}
	}
	return supervisor.LeaseRead{Problem: err.Error()}
}

// leaseAgain is how long to wait before a lease is asked again that could not say whose the run is.
const leaseAgain = 2 * time.Second

// watchLease tells the loop when the lease says something new, until ctx ends. It asks when the lease has changed and
// with each tick of the loop, so that a supervisor that waits is woken once a minute and not twice.
func (e *engine) watchLease(ctx context.Context) {
	if e.Lease == nil {
		return
	}
	for again := (<-chan time.Time)(nil); ; {
		select {
		case <-e.Lease.Changed():
		case <-e.ticked:
		case <-again:
		case <-e.unsure:
			if again == nil {
				again = time.After(leaseAgain)
			}
			continue
		case <-ctx.Done():
			return
		}
		now := leaseRead(e.Lease.Check(ctx))
		if e.hooks.looked != nil {
			e.hooks.looked()
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case e.leases <- now: // one that says nothing new is unwelcome
		case <-ctx.Done():
			return
		}
		if now.Over != nil {
			return
		}
		if again = nil; now.Problem != "" {
			again = time.After(leaseAgain)
		}
	}
}
