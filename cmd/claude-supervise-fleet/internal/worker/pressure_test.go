package worker

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/supervisor"
)

// A machine has its memory short when a test says so.
type machine struct {
	mu      sync.Mutex
	short   bool
	warning func()
}

func (m *machine) WatchMemory(ctx context.Context, short func()) {
	m.mu.Lock()
	m.warning = short
	m.mu.Unlock()
	<-ctx.Done()
}

func (m *machine) ShortOfMemory() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.short
}

func (m *machine) is(short bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.short = short
}

// A door is a worker's room that is watched, with one queue that asks for runs.
type door struct {
	*room
	t     *testing.T
	queue *queueRoom
	full  atomic.Bool // its disk
	mu    sync.Mutex
	told  []string
}

func (m *machine) door(t *testing.T, places int) *door {
	d := &door{t: t}
	d.room = newRoom(places, m, d.full.Load, func(text string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.told = append(d.told, text)
	})
	d.queue = &queueRoom{room: d.room}
	go d.watch(t.Context())
	synctest.Wait()
	return d
}

// comes has a run come, if the queue may be asked for one, and reports whether it is taken.
func (d *door) comes() bool {
	d.t.Helper()
	synctest.Wait()
	permit := d.queue.TryReserveSlot(nil)
	if permit == nil {
		return false
	}
	d.queue.MarkSlotUsed(info{permit: permit})
	if d.take() {
		return true
	}
	d.queue.ReleaseSlot(info{permit: permit})
	return false
}

// mustTake has so many runs taken.
func (d *door) mustTake(runs int) {
	d.t.Helper()
	for n := range runs {
		if !d.comes() {
			d.t.Fatalf("it takes %d runs, not %d", n, runs)
		}
	}
}

func (d *door) says(last string) {
	d.t.Helper()
	synctest.Wait()
	if told := d.all(); len(told) == 0 || told[len(told)-1] != last {
		d.t.Errorf("it is told %q, want %q last", told, last)
	}
}

// all returns what was told so far.
func (d *door) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.told)
}

func TestAWorkerTakesNoFurtherRunWhileMemoryIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		d := m.door(t, 4)
		d.mustTake(2)
		m.is(true)
		if d.comes() {
			t.Fatal("it takes a run while memory is short")
		}
		d.says("has up to 1 run at a time for now: " + supervisor.MemoryShort)
		time.Sleep(time.Hour)
		d.says("has up to 1 run at a time for now: " + supervisor.MemoryShort)
		if d.comes() {
			t.Error("it takes a run while memory is still short")
		}
		m.is(false)
		time.Sleep(supervisor.Calm + supervisor.PressAgain) // memory was looked at last before that
		d.says("has up to 2 runs at a time for now: " + supervisor.MemoryShort)
		time.Sleep(2 * supervisor.Calm)
		d.says("takes up to 4 runs again")
		d.mustTake(2)
		if d.comes() {
			t.Error("it has more than its four places")
		}
	})
}

// What presses the machine is none of its runs then, and may press it for ever.
func TestAWorkerThatHasNoRunTakesOneThoughMemoryIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{short: true}
		d := m.door(t, 4)
		m.warning()
		time.Sleep(time.Hour)
		d.mustTake(1)
		if d.comes() {
			t.Error("it takes another")
		}
	})
}

func TestAWorkerTakesNoRunWhileItsDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := (&machine{}).door(t, 2)
		d.mustTake(1)
		d.full.Store(true)
		if d.comes() {
			t.Error("it takes a run for which there is no room")
		}
		time.Sleep(supervisor.PressAgain)
		d.says("takes no further runs for now: its disk is full")
		d.full.Store(false)
		time.Sleep(supervisor.PressAgain)
		d.says("takes up to 2 runs again")
		d.mustTake(1)
	})
}

func TestAQueueIsAskedAgainOnceMemoryIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		d := m.door(t, 2)
		d.mustTake(1)
		m.warning()
		synctest.Wait()
		got := make(chan error, 1)
		go func() {
			_, err := d.queue.ReserveSlot(t.Context(), nil)
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Errorf("the queue is asked while memory is short: %v", err)
		default:
		}
		if err := <-got; err != nil { // once the calm is over
			t.Error(err)
		}
	})
}

func TestAWorkerTakesNoRunUntilAUsageLimitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := (&machine{}).door(t, 2)
		if !d.comes() {
			t.Fatal("it takes no run")
		}
		until := time.Now().Add(time.Hour)
		d.limited("r-1", &until, "You've hit your limit")
		if d.comes() {
			t.Error("it takes a run that would meet the limit")
		}
		d.says("takes no further runs until " + until.UTC().Format(time.RFC3339) + ": You've hit your limit")
		d.limited("r-2", &until, "You've hit your limit")
		d.limited("r-1", nil, "") // it was ended sooner
		if d.comes() {
			t.Error("the limit of another run is forgotten")
		}
		time.Sleep(time.Hour)
		d.says("takes up to 2 runs again")
		if !d.comes() {
			t.Error("it takes no run after the limit")
		}
		again := time.Now().Add(time.Hour)
		d.limited("r-1", &again, "You've hit your limit")
		d.limited("r-1", nil, "")
		d.says("takes up to 2 runs again")
	})
}

func TestRequestsOfSeveralAgentsThatTheAPIRefusesPressAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := (&machine{}).door(t, 8)
		d.mustTake(4)
		d.refused("r-1/a-1", 529)
		d.refused("r-1/a-1", 529)
		d.refused("r-2/a-2", 500) // that is no want of room
		d.refused("", 0)
		if !d.comes() {
			t.Fatal("the refusals of one agent press the worker")
		}
		d.refused("r-2/a-2", 429)
		d.says("has up to 2 runs at a time for now: " + supervisor.APIRefuses)
		if d.comes() {
			t.Error("it takes a run")
		}
		if told := d.all(); slices.Contains(told, "takes up to 8 runs again") {
			t.Errorf("it is told %q", told)
		}
	})
}

func TestARefusalIsReadFromTheEventsOfARun(t *testing.T) {
	for event, want := range map[string]int{
		`{"run":"r-1","agent":"a-1","type":"progress","text":"the API refused","api_status":529}`: 529,
		`{"run":"r-1","agent":"a-1","type":"text","text":"\"api_status\":529"}`:                   0,
		`{"run":"r-1","agent":"a-1","type":"progress","text":"cut short","api_status":52`:         0,
		``: 0,
	} {
		if agent, status := refusalIn([]byte(event)); status != want || want != 0 && agent != "r-1/a-1" {
			t.Errorf("%s: %q is refused with %d", event, agent, status)
		}
	}
}
