//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/smalldisk"
)

// onSmallDisk starts a worker whose folder is on a disk of its own.
func (s *site) onSmallDisk(name string) (*process, smalldisk.Disk) {
	s.t.Helper()
	d := smalldisk.Mount(s.t, "8m")
	return s.worker(name, "--dir", filepath.Join(d.Dir, "worker")), d
}

// The disk of a worker runs full while a question is held there. Its answer is not refused: the run goes on with it on
// a worker that can keep it.
func TestAnAnswerThatAWorkersDiskDoesNotTakeGoesElsewhere(t *testing.T) {
	t.Parallel()
	if !smalldisk.May(t) {
		return
	}
	s := newSite(t)
	_, d := s.onSmallDisk("small")
	run := s.asking()
	q := s.asks(run, "small")
	d.Fill(t)
	s.worker("large")
	s.must("answer", q, "JWT")
	s.succeeds(run)
	nothingIsLeft(t, run)
	ended := s.until(run, "ended", func(l listed) bool { return l.ExitCode != nil })
	if !strings.Contains(strings.Join(ended.Notes, "\n"), "worker small could not go on with it") {
		t.Errorf("it is not told why it has moved: %q", ended.Notes)
	}
	if shown := s.must("show", run); !strings.Contains(shown, "JWT") {
		t.Errorf("it is not shown what was answered: %s", shown)
	}
}

// The disk of the only worker runs full. A run waits there, and goes on once there is room.
func TestARunWaitsForRoomOnTheDiskOfItsOnlyWorker(t *testing.T) {
	t.Parallel()
	if !smalldisk.May(t) {
		return
	}
	s := newSite(t)
	small, d := s.onSmallDisk("small")
	run := s.asking()
	q := s.asks(run, "small")
	d.Fill(t)
	s.until(run, "waiting for room", func(l listed) bool { return l.Status == "queued" })
	d.Fill(t) // where the run was
	small.says(t, "takes no further runs for now: its disk is full")
	nothingIsLeft(t, run)
	d.MakeRoom(t)
	s.must("answer", q, "JWT")
	s.succeeds(run)
	nothingIsLeft(t, run)
}
