package worker

import (
	"context"
	"testing"
	"testing/synctest"

	sdkworker "go.temporal.io/sdk/worker"
)

// info is what the SDK says of a permit.
type info struct {
	sdkworker.SlotReleaseInfo
	permit *sdkworker.SlotPermit
}

func (i info) Permit() *sdkworker.SlotPermit { return i.permit }

// An idle queue keeps no other from being asked, and runs of both have one place between them.
func TestQueuesShareTheRoomOfAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(1, &machine{}, func() bool { return false }, nil)
		idle, busy := &queueRoom{room: r}, &queueRoom{room: r}
		if idle.TryReserveSlot(nil) == nil || idle.TryReserveSlot(nil) != nil {
			t.Fatal("a queue is not asked for as many runs as there is room for")
		}
		first := busy.TryReserveSlot(nil)
		if first == nil {
			t.Fatal("an idle queue keeps another from being asked")
		}
		busy.MarkSlotUsed(info{permit: first})
		if !r.take() || r.take() {
			t.Fatal("there is not room for one run")
		}
		waiting, leave := context.WithCancel(t.Context())
		reserved := make(chan error, 2)
		reserve := func(ctx context.Context) {
			_, err := busy.ReserveSlot(ctx, nil)
			reserved <- err
		}
		go reserve(waiting)
		synctest.Wait()
		select {
		case err := <-reserved:
			t.Fatalf("a queue is asked without room: %v", err)
		default:
		}
		leave()
		if err := <-reserved; err == nil {
			t.Error("a worker that leaves asks on")
		}
		go reserve(t.Context())
		synctest.Wait()
		r.leave()
		busy.ReleaseSlot(info{permit: first})
		if err := <-reserved; err != nil {
			t.Error(err)
		}
		if !r.take() {
			t.Error("a run that has ended keeps its place")
		}
	})
}
