package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
)

// The lease never lasts until the moment in which the server may give the run to another worker, and ends by itself
// when the server does not answer.
func TestALeaseEndsBeforeTheServerGivesTheRunAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 30 * time.Second
		began := time.Now()
		now := func() (time.Duration, error) { return time.Since(began), nil }
		var until, received time.Duration
		away := false
		beat := func(ctx context.Context) error {
			if away {
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(time.Second) // on its way
			received = time.Since(began)
			time.Sleep(2 * time.Second) // and back
			return nil
		}
		renew := func(to time.Duration) error {
			until = to
			if until > received+lease-margin(lease) {
				t.Errorf("a heartbeat that came at %s holds until %s", received, until)
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- holdLease(ctx, lease, beat, renew, now) }()
		time.Sleep(10 * time.Minute)
		if until < time.Since(began) {
			t.Error("it is not renewed")
		}
		away = true
		time.Sleep(10 * time.Minute)
		if until >= received+lease {
			t.Errorf("it lasts until %s, and the run is given away at %s", until, received+lease)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAHeartbeatOfALostRunIsTheLast(t *testing.T) {
	err := holdLease(t.Context(), time.Minute, func(context.Context) error { return serviceerror.NewNotFound("gone") },
		func(time.Duration) error { t.Error("it is renewed"); return nil }, leaseTime)
	if !errors.Is(err, errLost) {
		t.Errorf("it is %v", err)
	}
}

// An operator who pauses or resets the activity on the server keeps the run where it is: the server has answered.
func TestAPausedActivityKeepsItsLease(t *testing.T) {
	for _, by := range []error{activity.ErrActivityPaused, activity.ErrActivityReset} {
		synctest.Test(t, func(t *testing.T) {
			const lease = 30 * time.Second
			began := time.Now()
			var until time.Duration
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				done <- holdLease(ctx, lease, func(context.Context) error { return by },
					func(to time.Duration) error { until = to; return nil },
					func() (time.Duration, error) { return time.Since(began), nil })
			}()
			time.Sleep(10 * time.Minute)
			if until < time.Since(began) {
				t.Errorf("after 10 minutes of %v the lease has ended at %s", by, until)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
