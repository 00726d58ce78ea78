package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// How often it is looked whether a run that is waited for has been parked or asks: at first, and when it takes long.
const (
	lookFirst = 200 * time.Millisecond
	lookMost  = 2 * time.Second
)

// mostLooking is how many of the runs that are waited for are looked at at a time: the server has others to answer.
const mostLooking = 8

// awayMost is how long a server may be away while a run is waited for.
const awayMost = 5 * time.Minute

// Wait waits for runs that were read. each is given every one as it was read, whatever ctx says, and then as it is
// whenever it was looked at, until it returns that there is no more to wait for; one goroutine at a time calls it. Wait
// blocks until that is so of all runs, each gives an error, or ctx ends, whose cause is then the error. It says nothing
// to the workflows: a server lets one be told few things at a time and not many in all, and those are for answers.
func (f Fleet) Wait(ctx context.Context, runs []flow.Listed, each func(flow.Listed) (more bool, err error)) error {
	var left []string
	for _, l := range runs {
		more, err := each(l)
		if err != nil {
			return err
		}
		if more {
			left = append(left, l.ID)
		}
	}
	var one sync.Mutex
	over := false // each gave an error
	looking := make(chan struct{}, mostLooking)
	all, ctx := errgroup.WithContext(ctx)
	for _, run := range left {
		all.Go(func() error {
			return f.follow(ctx, run, looking, func(l flow.Listed) (bool, error) {
				one.Lock()
				defer one.Unlock()
				if over {
					return false, nil
				}
				more, err := each(l)
				over = err != nil
				return more, err
			})
		})
	}
	return all.Wait()
}

// follow looks at a run again and again, at once when it has ended. Whoever looks has a place in looking.
func (f Fleet) follow(ctx context.Context, run string, looking chan struct{},
	each func(flow.Listed) (more bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{}, 1)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() {
		_ = f.Client.GetWorkflow(ctx, run, "").Get(ctx, nil) // whatever it says, it is looked at once more
		closed <- struct{}{}
	})
	answered := time.Now()
	for look := lookFirst; ; look = min(look*5/4, lookMost) {
		select {
		case <-time.After(look):
		case <-closed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case looking <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now, err := f.now(ctx, run)
		<-looking
		var none *NoRunError
		switch {
		case err == nil:
			answered = time.Now()
			if more, err := each(now); err != nil || !more {
				return err
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &none) || time.Since(answered) > awayMost:
			return err
		}
	}
}
