package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/findings"
)

// makeShared makes that folder, if it is not there. An agent that finds none sees so itself.
func (m Machine) makeShared(run string) {
	if err := os.Mkdir(findings.SharedFolder(m.Dirs, run), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		m.Log.Error().Err(err).Msg("no folder for findings")
	}
}

// merge merges the findings of a run that has ended: those in the folder that its agents share, and those that they
// have left in the project's.
func (m Machine) merge(_ context.Context, s supervisor.State, _ effect.Effect) supervisor.Merged {
	known := map[string]bool{}
	for id := range s.Agents.All() {
		known[id] = true
	}
	merged := findings.MergeShared(findings.SharedFolder(m.Dirs, s.Run.ID), known)
	project := findings.MergeProject(s.Run.Cwd, m.Dirs.RunDir(s.Run.ID), s.Run.StartedAt.Truncate(time.Second))
	merged.Files = append(merged.Files, project.Files...)
	merged.Problem, merged.Again = cmp.Or(merged.Problem, project.Problem), merged.Again || project.Again
	return merged
}
