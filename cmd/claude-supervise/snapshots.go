package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/pack"
)

// snapshotFlags say where the snapshots of a run are put.
type snapshotFlags struct {
	dir  string
	keep int
}

// noSnapshots is the DIR that takes none.
const noSnapshots = "none"

func addSnapshotFlags(cmd *cobra.Command, f *snapshotFlags) {
	cmd.Flags().StringVar(&f.dir, "snapshots", "", "write snapshots to `DIR` after each turn; none: off")
	cmd.Flags().IntVar(&f.keep, "keep-snapshots", supervisor.DefaultKeep, "keep the last `N` snapshots")
	completesFolder(cmd, "snapshots")
}

// given reads the flags; nil where none is given. Dir is "" where none are to be taken.
func (f snapshotFlags) given(state, cwd string) (*supervisor.SnapshotTo, error) {
	switch {
	case f.keep < 1:
		return nil, usage("--keep-snapshots takes 1 or more, not %d", f.keep)
	case f.dir == "":
		return nil, nil
	case f.dir == noSnapshots:
		return &supervisor.SnapshotTo{}, nil
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	if err := pack.MayHoldSnapshots(dir, cwd, state); err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	if err := pack.ReadyForSnapshots(dir); err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	return &supervisor.SnapshotTo{Dir: dir, Keep: f.keep}, nil
}

// snapshotting is what a supervisor needs to know to take snapshots of its run.
type snapshotting struct {
	run string
	to  *supervisor.SnapshotTo // nil: only those that are asked for are taken
}

// taking takes the snapshots of a run as long as it is supervised.
type taking struct{ *pack.Taker }

func (t taking) close() {
	t.Close()
	if t.Folder != nil {
		t.Folder.Close()
	}
}

// takeSnapshots gives a supervisor what takes its snapshots and, if they go into a folder, what reports whether another
// supervisor has taken the run over from there.
func (s *session) takeSnapshots(sup *engine.Supervisor, to snapshotting) (taking, error) {
	t := &pack.Taker{Dirs: s.Dirs, Store: s.Store, Program: "claude-supervise " + release.Version(), At: s.At}
	if to.to != nil && to.to.Dir != "" {
		t.Folder, t.Keep = pack.FolderOf(to.to.Dir, to.run), to.to.Keep
		sup.Lease = t.Folder
	}
	sup.Snapshot = t.Take
	return taking{t}, pack.ClearAsked(s.Dirs, to.run)
}
