package worker

import (
	"context"
	"sync"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"claude-supervise/supervisor"
)

// A room has places for runs, which several queues share. The SDK reserves a place before it asks a queue for a run,
// and may learn only after a minute that there is none: if a place were taken by that, an idle queue would keep a busy
// one from being asked. So each queue may be asked for as many runs as there are free places, whatever others are asked
// for, and a run that comes when another queue was quicker is turned away ([room.take]).
//
// There are fewer places while memory is short or the API refuses requests, and none while a usage limit lasts
// (pressure.go) or the disk is full.
type room struct {
	places int
	memory memory
	disk   func() bool       // reports whether the worker's disk is full
	told   func(text string) // called with what a person should know of how many runs there may be; it may block

	mu       sync.Mutex
	used     int           // by runs that came, those that are turned away included
	had      int           // by runs that were not turned away
	changed  chan struct{} // closed when a place has become free
	pressure *supervisor.Pressure
	refusals supervisor.Backpressure
	limits   map[string]usageLimit // by the runs that have met them
	said     string                // what was told last; "": nothing, or that there are all places again
	news     chan struct{}         // full when there is something to tell (watch)
}

func newRoom(places int, m memory, disk func() bool, told func(string)) *room {
	return &room{places: places, memory: m, disk: disk, told: told, changed: make(chan struct{}),
		refusals: supervisor.Backpressure{}, limits: map[string]usageLimit{}, news: make(chan struct{}, 1)}
}

// take reports whether a run that came has a place; leave gives it back.
func (r *room) take() bool {
	if r.memory.ShortOfMemory() {
		r.press(supervisor.MemoryShort)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.had >= r.most(time.Now()) {
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
	if q.used+q.asked >= q.most(time.Now()) {
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
	q.asksAgain()
}

// MaxSlots is how many runs there are at most.
func (q *queueRoom) MaxSlots() int { return q.places }
