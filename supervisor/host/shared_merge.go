package host

import (
	"context"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/findings"
)

// merge merges the findings of a run that has ended.
func (m Machine) merge(_ context.Context, s supervisor.State, _ supervisor.Effect) supervisor.Merged {
	known := map[string]bool{}
	for id := range s.Agents {
		known[id] = true
	}
	return findings.MergeFindings(findings.SharedFolder(m.Dirs, s.Run.ID), known)
}
