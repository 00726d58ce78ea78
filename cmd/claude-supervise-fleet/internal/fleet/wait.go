package fleet

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// How often it is looked whether a run that is waited for has been parked or asks: at first, and when it takes long.
const (
	lookFirst = 200 * time.Millisecond
	lookMost  = 2 * time.Second
)

// mostLooking is how many of the runs that are waited for are looked at at a time: the server has others to answer. Of
// more it is asked which have changed.
const mostLooking = 8

// awayMost is how long a server may be away while a run is waited for.
const awayMost = 5 * time.Minute

// Wait waits for runs that were read. each is given every one as it was read, whatever ctx says, and then as it is
// whenever it was looked at, until it returns that there is no more to wait for; one goroutine at a time calls it. Wait
// blocks until that is so of all runs, each gives an error, or ctx ends, whose cause is then the error. It says nothing
// to the workflows: a server lets one be told few things at a time and not many in all, and those are for answers.
func (f Fleet) Wait(ctx context.Context, runs []flow.Listed, each func(flow.Listed) (more bool, err error)) error {
	var left []flow.Listed
	for _, l := range runs {
		more, err := each(l)
		if err != nil {
			return err
		}
		if more {
			left = append(left, l)
		}
	}
	var one sync.Mutex
	over := false // each gave an error
	looking := make(chan struct{}, mostLooking)
	all, ctx := errgroup.WithContext(ctx)
	told, latest := map[string]*listener{}, time.Time{}
	for _, l := range left {
		if len(left) > mostLooking {
			told[l.ID] = &listener{make(chan flow.Listed, 1), l.Changed}
		}
		if l.Changed.After(latest) {
			latest = l.Changed
		}
	}
	var following atomic.Int64
	following.Store(int64(len(left)))
	asking, enough := context.WithCancel(ctx)
	defer enough()
	if len(told) > 0 {
		if latest.IsZero() { // no worker has read one yet
			latest = time.Now().Add(-time.Hour) // the server may have another time
		}
		all.Go(func() error { return f.tell(asking, ctx, ChangesAfter(latest.Add(-readWithin)), told) })
	}
	for _, l := range left {
		all.Go(func() error {
			defer func() {
				if following.Add(-1) == 0 {
					enough()
				}
			}()
			var changes <-chan flow.Listed
			if to := told[l.ID]; to != nil {
				changes = to.changes
			}
			return f.follow(ctx, l, looking, changes, func(l flow.Listed) (bool, error) {
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

// readWithin is how long it may have taken to read all the runs that are waited for, before it is asked what changes.
const readWithin = time.Minute

// A listener is one who follows a run that says when it changes.
type listener struct {
	changes chan flow.Listed // of one place: the latest
	last    time.Time        // that was told
}

// tell tells those who follow runs how these have changed, until asking ends (nil), or the server is away.
func (f Fleet) tell(asking, ctx context.Context, changes Changes, told map[string]*listener) error {
	answered := time.Now()
	for {
		select {
		case <-time.After(AsksEvery):
		case <-asking.Done():
			return context.Cause(ctx) // nil, where nobody follows any more
		}
		changed, err := changes.Ask(asking, f)
		switch {
		case err == nil:
			answered = time.Now()
		case asking.Err() == nil && time.Since(answered) > awayMost:
			return err
		}
		for _, l := range changed {
			to := told[l.ID]
			if to == nil || !l.Changed.After(to.last) {
				continue
			}
			to.last = l.Changed
			select {
			case <-to.changes: // as it was before
			default:
			}
			to.changes <- l
		}
	}
}

// follow is told how a run has changed. Where told is nil, and until the run says when it changes, it looks at it again
// and again; and at once when it has ended. Whoever looks has a place in looking.
func (f Fleet) follow(ctx context.Context, run flow.Listed, looking chan struct{}, told <-chan flow.Listed,
	each func(flow.Listed) (more bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{}, 1)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() {
		_ = f.Client.GetWorkflow(ctx, run.ID, "").Get(ctx, nil) // whatever it says, it is looked at once more
		closed <- struct{}{}
	})
	answered := time.Now()
	for look := lookFirst; ; look = min(look*5/4, lookMost) {
		var again <-chan time.Time
		if told == nil || run.Changed.IsZero() {
			again = time.After(look)
		}
		select {
		case <-again:
		case now := <-told:
			if more, err := each(now); err != nil || !more {
				return err
			}
			continue
		case <-closed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case looking <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now, err := f.now(ctx, run.ID)
		<-looking
		var none *NoRunError
		switch {
		case err == nil:
			answered, run.Changed = time.Now(), now.Changed
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
