package main

import (
	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/pack"
)

// snapshotting is what a supervisor needs to know to take snapshots of its run.
type snapshotting struct {
	run string
	to  *conf.SnapshotTo // nil: only those that are asked for are taken
}

// takeSnapshots adds to a supervisor what takes its snapshots and, if they go into a folder, what reports whether
// another supervisor has taken the run over from there.
func (s *session) takeSnapshots(sup *engine.Supervisor, to snapshotting) (*pack.Taker, error) {
	t := &pack.Taker{Dirs: s.Dirs, Store: s.Store, Program: "claude-supervise " + release.Version(), At: s.At}
	if to.to != nil && to.to.Dir != "" {
		t.Folder, t.Keep = pack.FolderOf(to.to.Dir, to.run), to.to.Keep
		sup.Lease = t.Folder
	}
	sup.Snapshot = t.Take
	return t, pack.ClearAsked(s.Dirs, to.run)
}
