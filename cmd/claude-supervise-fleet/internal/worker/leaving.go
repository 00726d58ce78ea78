package worker

import (
	"context"
	"time"

	"claude-supervise/supervisor/pack"
)

// A worker that leaves lets the turns end that its agents are in, parks what it has, and hands it back with a snapshot
// of that moment: nothing is done again. Turns that have not ended when the time for it is over are ended, and done
// again by whoever goes on from the last snapshot.

// handsBackWithin is how long a worker may take, once turns have ended or have been ended, to end agents and to upload
// the last snapshots.
const handsBackWithin = 30 * time.Second

// rests returns when each agent has ended the turn that it is in now, when the time for that is over, or ctx ends.
func (h *held) rests(ctx context.Context, p *process) {
	ctx, cancel := context.WithTimeout(ctx, h.Leave)
	defer cancel()
	c, err := h.opened()
	if err == nil && c != nil {
		// What it writes is not needed: the supervisor takes one of its own in the same moment, and that is uploaded.
		_, err = pack.Live(ctx, *c, h.Task.Run, false, h.Name, func(string) error { return nil })
	}
	select {
	case <-p.ended: // by itself
	case <-ctx.Done():
	default:
		if err != nil {
			h.Log.Warn("the end of a turn cannot be waited for", "run", h.Task.Run, "error", err)
		}
	}
}
