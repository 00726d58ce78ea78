package worker

import (
	"context"
	"sync"

	sdkworker "go.temporal.io/sdk/worker"
)

// A room has places for runs, which several queues share. The SDK reserves a place before it asks a queue for a run,
// and may learn only after a minute that there is none: if a place were taken by that, an idle queue would keep a busy
// one from being asked. So each queue may be asked for as many runs as there are free places, whatever others are asked
// for, and a run that comes when another queue was quicker is turned away ([room.take]).
type room struct {
	places int

	mu      sync.Mutex
	used    int           // by runs that came, those that are turned away included
	had     int           // by runs that were not turned away
	changed chan struct{} // closed when a place has become free
}

func newRoom(places int) *room { return &room{places: places, changed: make(chan struct{})} }

// take reports whether a run that came has a place; leave gives it back.
func (r *room) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.had >= r.places {
		return false
	}
	r.had++
	return true
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.had--
}

// A queueRoom is a room as one queue sees it.
type queueRoom struct {
	*room
	asked int // places for which the queue is being asked
}

// A place is what a permit of the SDK stands for.
type place struct{ used bool }

var _ sdkworker.SlotSupplier = (*queueRoom)(nil)

// ReserveSlot waits until the queue may be asked for one more run.
func (q *queueRoom) ReserveSlot(ctx context.Context, i sdkworker.SlotReservationInfo) (*sdkworker.SlotPermit, error) {
	for {
		q.mu.Lock()
		changed := q.changed
		q.mu.Unlock()
		if permit := q.TryReserveSlot(i); permit != nil {
			return permit, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryReserveSlot lets the queue be asked for one more run, if there is a place for it.
func (q *queueRoom) TryReserveSlot(sdkworker.SlotReservationInfo) *sdkworker.SlotPermit {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used+q.asked >= q.places {
		return nil
	}
	q.asked++
	return &sdkworker.SlotPermit{UserData: &place{}}
}

// MarkSlotUsed notes that a run came.
func (q *queueRoom) MarkSlotUsed(info sdkworker.SlotMarkUsedInfo) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p, ours := info.Permit().UserData.(*place); ours && !p.used {
		p.used = true
		q.asked--
		q.used++
	}
}

// ReleaseSlot notes that a run is gone, or that none came.
func (q *queueRoom) ReleaseSlot(info sdkworker.SlotReleaseInfo) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ours := info.Permit().UserData.(*place)
	switch {
	case !ours:
		return
	case p.used:
		q.used--
	default:
		q.asked--
	}
	close(q.changed)
	q.changed = make(chan struct{})
}

// MaxSlots is how many runs there are at most.
func (q *queueRoom) MaxSlots() int { return q.places }
