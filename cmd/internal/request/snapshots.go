package request

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/pack"
)

// Snapshots say where the snapshots of a run are put.
type Snapshots struct {
	Dir  string
	keep int
}

// NoSnapshots is the DIR that takes none.
const NoSnapshots = "none"

// AddSnapshots adds the flags of snapshots to a command.
func AddSnapshots(cmd *cobra.Command, f *Snapshots) {
	cmd.Flags().StringVar(&f.Dir, "snapshots", "", "write snapshots to `DIR` after each turn; none: off")
	cmd.Flags().IntVar(&f.keep, "keep-snapshots", conf.DefaultKeep, "keep the last `N` snapshots")
	commands.CompletesFolder(cmd, "snapshots")
}

// To reads the flags; nil where none is given. Dir is "" where none are to be taken.
func (f Snapshots) To(state, cwd string) (*conf.SnapshotTo, error) {
	switch {
	case f.keep < 1:
		return nil, usage("--keep-snapshots takes 1 or more, not %d", f.keep)
	case f.Dir == "":
		return nil, nil
	case f.Dir == NoSnapshots:
		return &conf.SnapshotTo{}, nil
	}
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	if err := pack.MayHoldSnapshots(dir, cwd, state); err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	if err := pack.ReadyForSnapshots(dir); err != nil {
		return nil, usage("--snapshots: %w", err)
	}
	return &conf.SnapshotTo{Dir: dir, Keep: f.keep}, nil
}
