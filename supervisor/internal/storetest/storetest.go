package storetest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

// A Saver is what a supervisor does to the records of one run, without the supervisor.
type Saver struct {
	T     testing.TB
	Dirs  checkpoints.Dirs
	Store *checkpoints.Store
	owner *checkpoints.Owner
	Run   supervisor.Run
	seq   int64
}

// NewSaver begins a run that is saved by the test.
func NewSaver(t testing.TB, dirs checkpoints.Dirs, id string) *Saver {
	t.Helper()
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &Saver{T: t, Dirs: dirs, Store: store,
		Run: supervisor.Run{ID: id, Cwd: "/", Root: "a-" + id[2:], PID: os.Getpid(), StartedAt: checkpoints.Now(),
			Since: checkpoints.Now()}}
	s.Own()
	t.Cleanup(func() { runtime.KeepAlive(s) }) // or its lock goes with it
	return s
}

// Own takes the run's lock.
func (s *Saver) Own() {
	s.T.Helper()
	var err error
	if s.owner, err = s.Dirs.Own(s.T.Context(), s.Run.ID); err != nil {
		s.T.Fatal(err)
	}
}

// Save saves the run in this status.
func (s *Saver) Save(status supervisor.Status, reason string) {
	s.T.Helper()
	s.Run.Status, s.Run.Reason = status, reason
	s.Commit(checkpoints.Change{Run: &s.Run})
}

// Commit saves a change with an event.
func (s *Saver) Commit(c checkpoints.Change) {
	s.T.Helper()
	s.seq++
	c.Event = checkpoints.Event{Run: s.Run.ID, Seq: s.seq, At: checkpoints.Now(), Type: "test", Doc: []byte(`{}`)}
	if err := s.Store.Commit(context.Background(), c); err != nil {
		s.T.Fatal(err)
	}
}

// Leave gives the run up: on purpose where why is given, else as a dead supervisor does.
func (s *Saver) Leave(why string) {
	s.T.Helper()
	if s.Run.Left = why; why != "" {
		s.Commit(checkpoints.Change{Run: &s.Run})
	}
	if err := s.owner.Release(); err != nil {
		s.T.Fatal(err)
	}
}

// TestDirs returns folders of the test's own.
func TestDirs(t testing.TB) checkpoints.Dirs {
	t.Helper()
	return checkpoints.Dirs{State: filepath.Join(t.TempDir(), "not", "there", "yet"), Runtime: t.TempDir()}
}
