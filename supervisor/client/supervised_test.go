package client

import (
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/records"
)

// What is left for a run after its supervisor has said that it leaves, nobody takes by himself, though the lock is held
// for a moment yet.
func TestASupervisorThatLeavesSupervisesNoMore(t *testing.T) {
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-leaves01")
	c := Client{Dirs: s.Dirs, Store: s.Store}
	s.Save(checkpoints.Waiting, "asks")
	if !c.Supervised(t.Context(), s.Run.ID) {
		t.Error("one that waits does not supervise")
	}
	s.Run.Left = records.LeavingParked
	s.Save(checkpoints.Parked, "asks")
	if c.Supervised(t.Context(), s.Run.ID) {
		t.Error("one that leaves supervises")
	}
	if c.Supervised(t.Context(), "r-nosuchid") {
		t.Error("a run that there is not is supervised")
	}
}
