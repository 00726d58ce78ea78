package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/pack"
)

// supervise is the activity that has a run until it ends, parks, or this worker leaves.
func (w *Worker) supervise(ctx context.Context, a flow.Attempt) (out flow.Outcome, err error) {
	h := &held{Worker: w, Attempt: a, commit: a.Commit, gone: make(chan struct{}),
		asked: make(chan struct{}, 1), news: make(chan struct{}, 1), toldAt: time.Now(),
		dir: filepath.Join(w.Dir, "runs", fmt.Sprintf("%s.%d", a.Task.Run, a.Epoch))}
	if !flow.IsRun(a.Task.Run) {
		return out, never("%q is not an id of a run", a.Task.Run)
	}
	if !w.room.take() {
		return flow.Outcome{Full: true, Seen: flow.Seen{Epoch: a.Epoch}}, nil
	}
	defer w.room.leave()
	before := w.add(h)
	defer w.remove(h)
	if err := os.MkdirAll(h.snapshotsOf(), 0o700); err != nil {
		return out, err
	}
	defer func() {
		if left := h.removes(); left != nil {
			w.Log.Warn("what a run has left cannot be removed", "folder", h.dir, "error", left)
		}
	}()

	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	token := activity.GetInfo(ctx).TaskToken
	beat := func(ctx context.Context) error { return w.Client.RecordActivityHeartbeat(ctx, token) }
	renew := func(until time.Duration) error {
		h.mu.Lock()
		h.until = until
		h.mu.Unlock()
		return pack.Lease(h.snapshots(), a.Task.Run, until)
	}
	var beside sync.WaitGroup
	beside.Go(func() {
		if err := holdLease(ctx, a.Task.Lease, beat, renew, leaseTime); err != nil {
			leave(err)
		}
	})
	beside.Go(func() { h.showsApart(ctx, a.Task.Lease) })
	defer func() { leave(nil); beside.Wait() }()
	if before != nil { // this worker was not heard of, and has not ended it yet
		select {
		case <-before.gone:
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
	out, err = h.run(ctx)
	if errors.Is(context.Cause(ctx), errLost) {
		return out, errLost
	}
	return out, err
}

func never(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), flow.ErrNever, nil)
}

// run prepares the folder of the run, and supervises it.
func (h *held) run(ctx context.Context) (flow.Outcome, error) {
	var had *temporal.ApplicationError
	if err := h.Store.claim(ctx, h.Task.Run, h.Epoch, h.Name); errors.As(err, &had) {
		return flow.Outcome{}, err
	} else if err != nil { // who reaches only the server cannot bring that about
		h.note("epoch %d cannot be claimed in the blob store: %v", h.Epoch, err)
	}
	if err := h.Store.Delete(ctx, h.Task.Run, h.Epoch-1, claimFile); err != nil {
		h.Log.Warn("the claim of an earlier epoch cannot be removed", "run", h.Task.Run, "error", err)
	}
	origin, told, err := h.Store.Newest(ctx, h.Task.Run, h.Epoch, filepath.Join(h.dir, "from"),
		func(file string) error { return h.goOnFrom(ctx, file) })
	if err != nil {
		return flow.Outcome{}, err
	}
	for _, t := range told {
		h.note("%s", t)
	}
	if err := h.lost(origin, told); err != nil {
		return flow.Outcome{}, err
	}
	args, stdin, ended := []string{"resume", h.Task.Run}, "", false
	if origin.Epoch > 0 { // the run was taken out of it, so it is whole
		if err := h.isSafe(origin.Epoch, origin.File); err != nil {
			return flow.Outcome{}, err
		}
		if err := h.Store.Keep(ctx, h.Task.Run, origin.Epoch); err != nil {
			h.Log.Warn("old snapshots cannot be removed", "run", h.Task.Run, "error", err)
		}
		if ended, err = h.hasEnded(ctx); err != nil {
			return flow.Outcome{}, err
		}
	}
	if !ended || !h.isFinal(origin.Epoch) {
		if err := h.findsProgram(); err != nil {
			return flow.Outcome{}, err
		}
	}
	switch {
	case origin.Epoch == 0:
		if err := h.place(ctx); err != nil {
			return flow.Outcome{}, err
		}
		if args, stdin, err = h.runArgs(); err != nil {
			return flow.Outcome{}, err
		}
	case ended && h.isFinal(origin.Epoch):
		return h.handsIn(ctx)
	case ended:
		switch why, err := h.nothingLeft(ctx); {
		case err != nil:
			return flow.Outcome{}, err
		case why != "":
			h.note("it was not resumed: %s", why)
			return h.handsIn(ctx)
		case h.Retry:
			args = []string{"resume", "--failed", h.Task.Run}
		}
	}
	if origin.Epoch > 0 {
		if err := h.answers(ctx); err != nil {
			return flow.Outcome{}, err
		}
	}
	if origin.Epoch > 0 {
		args = h.resumed(args)
	} else if args = h.supervised(args); len(h.Task.Claude) > 0 {
		args = append(append(args, "--"), h.Task.Claude...)
	}
	return h.untilSaved(ctx, args, stdin)
}
