package supervisor

import (
	"fmt"
	"path/filepath"

	"claude-supervise/supervisor/text"
)

// This file is that the folder of an agent stays where it was chosen: in that of the run, or in a worktree of one of
// its agents. Who works there can put a link in its place before the agent is launched, or launched again; and what
// claude lets an agent do in its folder without being asked, it would then let it do elsewhere.

// grounds are the folders in which an agent may work.
type grounds struct {
	run       string   // the person's choice: wherever it leads
	worktrees []string // those in which it means to; made by us, in a folder of ours: no links themselves
}

// GroundsOf returns those of an agent; nil where it works in the run's folder itself.
func (s State) GroundsOf(agent string) *grounds {
	folder := s.Folder(agent)
	if folder == s.Run.Cwd {
		return nil
	}
	g := grounds{run: s.Run.Cwd}
	for _, a := range s.AllAgents() {
		if w := a.Worktree; w != nil && w.Path != "" && text.Under(folder, w.Path) {
			g.worktrees = append(g.worktrees, w.Path)
		}
	}
	return &g
}

// Hold reports whether a folder still lies in one of them; the error is for people. One that is not there is none of
// its concern. resolve follows the links of a path (filepath.EvalSymlinks).
func (g *grounds) Hold(folder string, resolve func(string) (string, error)) error {
	if g == nil {
		return nil
	}
	real, err := resolve(folder)
	if err != nil {
		return nil //nolint:nilerr // who starts something there says so
	}
	if run, err := resolve(g.run); err == nil && text.Under(real, run) {
		return nil
	}
	for _, path := range g.worktrees {
		if repo, err := resolve(filepath.Dir(path)); err == nil &&
			text.Under(real, filepath.Join(repo, filepath.Base(path))) {
			return nil
		}
	}
	return fmt.Errorf("its folder %s leads to %s now, which is outside of the run", folder, real)
}
