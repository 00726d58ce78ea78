package records

import (
	"fmt"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// Forked reports whether an agent goes on from a question of another run.
func (s Records) Forked(a *checkpoints.Agent) bool { return s.Run.Forked != nil && a.ID == s.Run.Root }

// Grounds are the folders in which an agent may work: that of the run, or a worktree of one of its agents. Who works
// there can put a link in its place before the agent is launched, or launched again. What claude lets an agent do in
// its folder without being asked, it would then let it do elsewhere.
type Grounds struct {
	run       string   // the person's choice: wherever it leads
	worktrees []string // those in which it means to; made by us, in a folder of ours: no links themselves
}

// GroundsOf returns those of an agent; nil where it works in the run's folder itself.
func (s Records) GroundsOf(agent string) *Grounds {
	folder := s.Folder(agent)
	if folder == s.Run.Cwd {
		return nil
	}
	g := Grounds{run: s.Run.Cwd}
	for _, a := range s.AllAgents() {
		if w := a.Worktree; w != nil && w.Path != "" && text.Under(folder, w.Path) {
			g.worktrees = append(g.worktrees, w.Path)
		}
	}
	return &g
}

// Hold reports whether a folder still lies in one of them; the error is for people. One that is not there is none of
// its concern. resolve follows the links of a path (filepath.EvalSymlinks).
func (g *Grounds) Hold(folder string, resolve func(string) (string, error)) error {
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

// TakesOver is the work tree into which what is left in an agent's worktree is merged: its parent's, or the run's where
// that is gone.
func (s Records) TakesOver(a *checkpoints.Agent) string {
	if s.Forked(a) {
		return a.Worktree.From
	}
	if above := s.Agents.Get(a.Parent).Worktree; above != nil && above.State == checkpoints.WorktreeRemoved {
		return a.Worktree.Repo
	}
	return s.Folder(a.Parent)
}

// Commands returns what a person types to take over what an agent has left in its worktree, in order, and what to be
// rid of it. w is that worktree as it is now.
func (s Records) Commands(a *checkpoints.Agent, w checkpoints.Worktree) (merge, drop []string) {
	merge, drop = w.Commands(s.TakesOver(a))
	if w.IsCopy() && len(drop) > 0 {
		merge = []string{"claude-supervise keep " + s.Run.ID}
	}
	return merge, drop
}

// Folder is where an agent works, absolute: its own folder, else its parent's, and that of the run.
func (s Records) Folder(agent string) string {
	for a := s.Agents.Get(agent); a != nil; a = s.Agents.Get(a.Parent) {
		if a.Cwd != "" {
			return a.Cwd
		}
	}
	return s.Run.Cwd
}

// Continues returns the ended agent in whose worktree one goes on, nil if there is none.
func (s Records) Continues(a *checkpoints.Agent) *checkpoints.Agent {
	if a.From == "" {
		return nil
	}
	for before := range s.Agents.Values() {
		if before.ContinuedBy == a.ID && before.Worktree != nil && before.Worktree.State == checkpoints.WorktreeKept {
			return before
		}
	}
	return nil
}

// Inhabited reports whether an agent that has not ended works in the worktree of another.
func (s Records) Inhabited(a *checkpoints.Agent) bool {
	for id, other := range s.Agents.All() {
		if id != a.ID && !other.Status.Ended() && text.Under(s.Folder(id), a.Worktree.Path) {
			return true
		}
	}
	return false
}

// FoldersIn is as much of a run's state as tells where its agents work.
func FoldersIn(run checkpoints.Run, agents []checkpoints.Agent) Records {
	s := Records{Run: &run}
	for i := range agents {
		s.Agents.Put(agents[i].ID, &agents[i])
	}
	return s
}

// WorktreeAround returns the worktree of an agent above one in which a folder lies, nil if it lies in none.
func (s Records) WorktreeAround(a *checkpoints.Agent, folder string) *checkpoints.Worktree {
	for above := s.Agents.Get(a.Parent); above != nil; above = s.Agents.Get(above.Parent) {
		if w := above.Worktree; w != nil && w.State == checkpoints.WorktreeMade && text.Under(folder, w.Path) {
			return w
		}
	}
	return nil
}
