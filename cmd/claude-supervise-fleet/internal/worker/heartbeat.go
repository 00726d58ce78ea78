package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"claude-supervise/supervisor/pack"
)

// A lease is held by heartbeats. Each that the server has answered lets the supervisor go on for lease-margin from the
// moment before it was sent; the server gives the run to another worker no earlier than a lease after it has received
// it. So between the last thing that a lost supervisor says and the first of the next one lies at least the margin,
// whoever stood still, for however long, at whatever moment.

// margin is the part of the lease that is not used.
func margin(lease time.Duration) time.Duration { return lease / 5 }

// beatEvery is how often a heartbeat is sent.
func beatEvery(lease time.Duration) time.Duration { return lease / 6 }

// errLost means that the run is not this worker's any more.
var errLost = errors.New("the run continues elsewhere")

// holdLease sends heartbeats until ctx ends, or the run is lost: errLost. beat sends one; renew lets the supervisor go
// on until a time. now has that clock.
func holdLease(ctx context.Context, lease time.Duration, beat func(context.Context) error,
	renew func(until time.Duration) error, now func() (time.Duration, error)) error {
	tick := time.NewTicker(beatEvery(lease))
	defer tick.Stop()
	for {
		began, err := now()
		if err != nil {
			return err
		}
		send, cancel := context.WithTimeout(ctx, lease)
		err = beat(send)
		cancel()
		var gone *serviceerror.NotFound
		switch {
		case err == nil, errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
			// An operator has paused or reset the activity on the server, which says so and has taken the heartbeat: this
			// attempt goes on.
			if err := renew(began + lease - margin(lease)); err != nil {
				return err
			}
		case errors.As(err, &gone), temporal.IsCanceledError(err):
			return errLost
		}
		// any other error: the server cannot be reached. The lease runs out by itself.
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// leaseTime is the clock of leases.
func leaseTime() (time.Duration, error) { return pack.LeaseClock() }
