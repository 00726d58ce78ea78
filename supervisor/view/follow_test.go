package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/storetest"
)

// watching is a Watch under way.
type watching struct {
	t    *testing.T
	seen chan []RunView
}

func watchRuns(t *testing.T, dirs checkpoints.Dirs) watching {
	t.Helper()
	w := watching{t, make(chan []RunView)}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		err := Reader{Dirs: dirs}.Watch(ctx, false, func(runs []RunView) error {
			select {
			case w.seen <- runs:
			case <-ctx.Done():
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	return w
}

// next waits for the next list, of one run or none.
func (w watching) next() RunView {
	w.t.Helper()
	select {
	case runs := <-w.seen:
		if len(runs) > 1 {
			w.t.Fatalf("%d runs", len(runs))
		}
		return append(runs, RunView{})[0]
	case <-w.t.Context().Done():
		w.t.Fatal("the test was ended")
	case <-time.After(patience):
		w.t.Fatal("no change is seen")
	}
	return RunView{}
}

// patience bounds a failing test only. It is less than a minute, after which changes are looked for unasked.
const patience = 30 * time.Second

func TestWatchSeesARunWhereNothingEverWas(t *testing.T) {
	dirs := storetest.TestDirs(t)
	w := watchRuns(t, dirs)
	if v := w.next(); v.ID != "" {
		t.Fatalf("there is %+v", v)
	}
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	if v := w.next(); v.Status != checkpoints.Running || v.SupervisorPID == 0 {
		t.Errorf("it is %+v", v)
	}
}

func TestWatchSeesEveryChange(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "begun")
	w := watchRuns(t, dirs)
	w.next()
	for i := range 10 {
		s.Save(checkpoints.Running, fmt.Sprint(i))
		if v := w.next(); v.Reason != fmt.Sprint(i) {
			t.Fatalf("after change %d it sees %q", i, v.Reason)
		}
	}
}

// The kernel tells of a change when it is written, which is before it can be read.
func TestALookWaitsForTheEndOfTheTransactionThatItIsToldOf(t *testing.T) {
	dirs := checkpoints.Dirs{State: t.TempDir()}
	turn := flock.New(dirs.State, flock.SetFlag(os.O_RDONLY))
	if err := turn.Lock(); err != nil {
		t.Fatal(err)
	}
	f := newFollowing(dirs)
	var over atomic.Bool
	begun, waited := make(chan struct{}), make(chan bool)
	go func() {
		close(begun)
		f.awaitWriters(t.Context())
		waited <- over.Load()
	}()
	<-begun
	for range 1000 {
		runtime.Gosched() // time enough not to wait
	}
	over.Store(true)
	if err := turn.Unlock(); err != nil {
		t.Fatal(err)
	}
	if !<-waited {
		t.Error("it did not wait")
	}
	if f.turn != nil {
		t.Error("it waits still")
	}
}

func TestALookDoesNotWaitLongForAWriterThatStandsStill(t *testing.T) {
	dirs := checkpoints.Dirs{State: t.TempDir()}
	turn := flock.New(dirs.State, flock.SetFlag(os.O_RDONLY))
	if err := turn.Lock(); err != nil {
		t.Fatal(err)
	}
	f := newFollowing(dirs)
	f.patience = time.Millisecond
	f.awaitWriters(t.Context())
	select {
	case <-f.turn:
		t.Error("the turn is over before it was")
	default:
	}
	if err := turn.Unlock(); err != nil {
		t.Fatal(err)
	}
	<-f.turn // it is told in the end, and looked again
}

func TestWatchIsSilentAboutWhatChangesNothing(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "before")
	w := watchRuns(t, dirs)
	w.next()
	for range 5 {
		s.Commit(checkpoints.Change{})
	}
	s.Save(checkpoints.Running, "after")
	if v := w.next(); v.Reason != "after" {
		t.Errorf("it tells of %+v", v)
	}
}

func TestWatchSeesASupervisorDie(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	w := watchRuns(t, dirs)
	w.next()
	for range 3 {
		s.Leave("")
		if v := w.next(); v.Status != checkpoints.Orphaned || v.SupervisorPID != 0 {
			t.Fatalf("it is %+v", v)
		}
		s.Own() // as resume does
		s.Save(checkpoints.Running, "again")
		if v := w.next(); v.Status != checkpoints.Running {
			t.Fatalf("it is %+v", v)
		}
	}
}

func TestWatchesThatEndLeaveOneWaitForALockBehind(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	waits := func() int {
		stacks := make([]byte, 1<<20)
		return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("created by claude-supervise/supervisor/view."))
	}
	before := waits()
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := (Reader{Dirs: dirs}).Watch(ctx, false, func([]RunView) error { cancel(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if left := waits() - before; left > 1 {
		t.Errorf("%d waits are left", left)
	}
}

func TestWatchSurvivesThatTheStateIsRemoved(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	w := watchRuns(t, dirs)
	w.next()
	if err := os.RemoveAll(filepath.Dir(dirs.State)); err != nil {
		t.Fatal(err)
	}
	if v := w.next(); v.ID != "" {
		t.Fatalf("there is %+v", v)
	}
	storetest.NewSaver(t, dirs, "r-watched2").Save(checkpoints.Running, "launch 1")
	if v := w.next(); v.ID != "r-watched2" {
		t.Errorf("there is %+v", v)
	}
}

func TestAnOverviewStaysWhileTheDatabaseIsAway(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	look, seen := make(chan struct{}), make(chan Overview)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		err := Reader{Dirs: dirs}.WatchOverview(ctx, look, func(o Overview) error {
			select {
			case seen <- o:
			case <-ctx.Done():
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	next := func(problems int) {
		t.Helper()
		for { // what has changed may be seen in two looks
			select {
			case o := <-seen:
				if len(o.Runs) != 1 {
					t.Fatalf("there is %+v", o)
				}
				if len(o.Problems) == problems {
					return
				}
			case look <- struct{}{}:
			}
		}
	}
	next(0)
	away := dirs.Database() + ".away"
	if err := os.Rename(dirs.Database(), away); err != nil {
		t.Fatal(err)
	}
	next(1)
	if err := os.Rename(away, dirs.Database()); err != nil {
		t.Fatal(err)
	}
	next(0)
}

func TestWatchEndsWithTheFirstError(t *testing.T) {
	stop := errors.New("enough")
	err := Reader{Dirs: storetest.TestDirs(t)}.Watch(t.Context(), false, func([]RunView) error { return stop })
	if !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestThoseWhoFollowDoNotKeepASupervisorAway(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-watched1")
	s.Save(checkpoints.Running, "launch 1")
	var watchers []watching
	for range 8 {
		watchers = append(watchers, watchRuns(t, dirs))
	}
	for i := range 5 {
		for _, w := range watchers {
			w.next()
		}
		s.Leave("")
		s.Own() // fails the test where it takes a second
		s.Save(checkpoints.Running, fmt.Sprint(i))
		for _, w := range watchers {
			for v := w.next(); v.Reason != fmt.Sprint(i); v = w.next() { // they may see it orphaned, or not
			}
		}
		s.Save(checkpoints.Running, "next")
	}
}
