package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/pack"
)

// endsWithin is how long the supervisor of a run that is lost may take to end its agents, before it is killed.
const endsWithin = 20 * time.Second

// drive has the supervisor of the run run, tells the workflow what becomes of it, and gives how it left the run.
func (h *held) drive(ctx context.Context, args []string, stdin string) (flow.Outcome, error) {
	news, changed := h.news, h.hasNews
	leaving := activity.GetWorkerStopChannel(ctx)
	select {
	case <-leaving: // nothing is begun any more
		seen, err := h.look(ctx)
		return flow.Outcome{Seen: seen, Back: true}, err
	default:
	}
	if err := h.inherits(ctx); err != nil {
		return flow.Outcome{}, err
	}
	p, err := h.startSupervisor(args, stdin, func(event []byte) {
		h.room.refused(refusalIn(event))
		changed()
	})
	if err != nil {
		return flow.Outcome{}, err
	}
	h.mu.Lock()
	h.super = p
	h.mu.Unlock()
	var beside sync.WaitGroup
	defer beside.Wait()
	uploading, stopUploads := context.WithCancel(ctx)
	defer stopUploads()
	last, uploaded := make(chan struct{}), make(chan error, 1)
	beside.Go(func() { uploaded <- h.uploads(uploading, last, changed) })

	back, resting, hurry := false, (chan struct{})(nil), (<-chan struct{})(nil)
	givesBack := func() {
		back, resting = true, make(chan struct{})
		beside.Go(func() { h.rests(uploading, p); close(resting) })
	}
	asked := h.asked
	for running := true; running; {
		select {
		case <-news:
			h.tell(ctx, changed)
		case <-asked:
			if asked = nil; !back {
				givesBack()
			}
		case <-leaving:
			leaving, hurry = nil, h.Hurry
			if !back {
				givesBack()
			}
		case <-resting:
			resting = nil
			p.interrupt()
		case <-hurry:
			hurry = nil
			p.interrupt()
		case <-p.ended:
			running = false
		case <-ctx.Done(): // the run is not ours any more
			stopUploads()
			h.end(p)
			return flow.Outcome{}, errors.Join(context.Cause(ctx), <-uploaded)
		}
	}
	close(last)
	for all := false; !all; {
		select {
		case err := <-uploaded:
			if err != nil {
				return flow.Outcome{}, err
			}
			all = true
		case <-news:
			h.tell(ctx, changed) // that it cannot be uploaded
		}
	}
	seen, err := h.look(ctx)
	if err != nil {
		return flow.Outcome{}, err
	}
	if seen.Run != nil {
		h.records(ctx)
	}
	return h.outcome(p, seen, back)
}

// parksWithin is how long a supervisor that cannot see that its run is lost has to park it, before it is to end.
const parksWithin = 2 * time.Second

// end ends the supervisor of a run that is lost, and its agents with it: it sees that another has the next epoch. On a
// disk that is full there is no room for that, nor can it save that it leaves: told twice, it ends them at once.
func (h *held) end(p *process) {
	bound, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	sees := endsWithin / 2
	if _, err := pack.FolderOf(h.snapshots(), h.Task.Run).TakeOver(bound, h.Epoch); err != nil {
		sees = 0
	}
	defer time.AfterFunc(sees, p.interrupt).Stop()
	defer time.AfterFunc(sees+parksWithin, p.hurry).Stop()
	select {
	case <-p.ended:
		return
	case <-bound.Done():
	}
	p.kill()
	<-p.ended
	h.sweep(context.Background())
}

// sweep ends what a supervisor that was killed has left behind.
func (h *held) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	if _, err := h.does(ctx, "stop", h.Task.Run); err != nil {
		h.Log.Warn("what is left of a run could not be ended", "run", h.Task.Run, "error", err)
	}
}
