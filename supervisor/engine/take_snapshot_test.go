package engine_test

import (
	"context"
	"sync"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/notice"
)

// The first snapshot is put off until the agents' files were read beforehand, and the run goes on meanwhile: its answer
// is delivered, and its agent reports.
func TestTheFirstSnapshotWaitsForTheFilesAndTheRunDoesNot(t *testing.T) {
	d := newTestBench(t)
	snapshotReady := make(chan struct{})
	d.SnapshotReady = snapshotReady
	var mu sync.Mutex
	taken, early := 0, 0
	d.Snapshot = func(_ context.Context, _ supervisor.State, _ int64, captured func()) supervisor.Snapshotted {
		captured()
		mu.Lock()
		defer mu.Unlock()
		taken++
		select {
		case <-snapshotReady:
		default:
			early++
		}
		return supervisor.Snapshotted{At: checkpoints.Now()}
	}
	tell := d.Tell
	d.Tell = func(n notice.Notification) {
		if n.Type == notice.Reported {
			close(snapshotReady)
		}
		tell(n)
	}
	out := d.plays("ask", func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/a", Keep: 1} })
	if taken == 0 || early > 0 {
		t.Errorf("%d snapshots, %d of them before the files were read", taken, early)
	}
	if out.State.SnapshotDue() {
		t.Error("it has left while a snapshot was due")
	}
}

// A supervisor that leaves puts no snapshot off: nobody may come to read the files.
func TestASnapshotIsTakenAtTheEndThoughTheFilesWereNotRead(t *testing.T) {
	d := newTestBench(t)
	d.SnapshotReady = make(chan struct{})
	taken := 0
	d.Snapshot = func(_ context.Context, s supervisor.State, _ int64, captured func()) supervisor.Snapshotted {
		captured()
		if taken++; s.Run.Leaving == "" {
			t.Error("it was taken while the run went on")
		}
		return supervisor.Snapshotted{At: checkpoints.Now()}
	}
	d.plays("ask", func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/a", Keep: 1} })
	if taken != 1 {
		t.Errorf("%d snapshots", taken)
	}
}
