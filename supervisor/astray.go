package supervisor

import (
	"fmt"
	"path/filepath"
)

// This file is that the folder of an agent stays where it was chosen: in that of the run, or in a worktree of one of its agents. Who
// works there can put a link in its place before the agent is launched, or launched again; and what claude lets an agent do in its
// folder without being asked, it would then let it do elsewhere.

// grounds are the folders in which an agent may work.
type grounds struct {
	run       string   // the person's choice: wherever it leads
	worktrees []string // those in which it means to; made by us, in a folder of ours: no links themselves
}

// groundsOf gives those of an agent; nil where it works in the run's folder itself.
func (s State) groundsOf(agent string) *grounds {
	folder := s.folder(agent)
	if folder == s.Run.Cwd {
		return nil
	}
	g := grounds{run: s.Run.Cwd}
	for _, a := range s.agents() {
		if w := a.Worktree; w != nil && w.Path != "" && under(folder, w.Path) {
			g.worktrees = append(g.worktrees, w.Path)
		}
	}
	return &g
}

// hold tells whether a folder still lies in one of them; the error is for people. One that is not there is none of its concern.
func (g *grounds) hold(folder string) error {
	if g == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil //nolint:nilerr // who starts something there says so
	}
	if run, err := filepath.EvalSymlinks(g.run); err == nil && under(real, run) {
		return nil
	}
	for _, path := range g.worktrees {
		if garden, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && under(real, filepath.Join(garden, filepath.Base(path))) {
			return nil
		}
	}
	return fmt.Errorf("its folder %s leads to %s now, which is outside of the run", folder, real)
}
