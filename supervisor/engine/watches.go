package engine

import (
	"context"
	"time"

	"claude-supervise/checkpoints"
)

// watchAge is the age of a supervisor from which on the kernel is asked to tell what nobody waits for yet.
const watchAge = 2 * time.Second

// Watches are what the kernel tells of: changes in the folders of question files, and that memory is short. It takes it
// 5 to 30 ms to end each, and a process that exits waits for that. So it is asked only where there may be long to wait:
// from the first question on, or when the supervisor has been there for two seconds, and no more when all that is left
// of a run is that its processes end. Meanwhile the folders are looked at every second.
type watches struct {
	grown  bool   // it is time for them
	unwant func() // ends them; nil: there are none
}

// setWatches begins the watches, or ends them, as the state wants it. They end with ctx at the latest.
func (e *engine) setWatches(ctx context.Context) {
	e.watches.grown = e.watches.grown || len(e.state.FindPending((*checkpoints.Question).IsOpen)) > 0
	wanted := e.watches.grown && !e.state.Finishing()
	if wanted == (e.watches.unwant != nil) {
		return
	}
	if e.fileDrop != nil {
		e.fileDrop.Loosen(!wanted)
	}
	if !wanted {
		e.watches.unwant()
		e.watches.unwant = nil
		return
	}
	watching, unwant := context.WithCancel(ctx)
	e.watches.unwant = unwant
	e.group.Go(func() error {
		e.Machine.WatchMemory(watching, func() {
			select {
			case e.memory <- struct{}{}:
			default: // it is known, and nobody has looked yet
			}
		})
		return nil
	})
}
