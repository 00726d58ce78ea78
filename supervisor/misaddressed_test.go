package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"claude-supervise/checkpoints"
)

func TestAnAgentIsStartedInTheRunsFolderOrAWorktreeOnly(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, folder := range []string{"work/sub", "worktrees/a-tree/sub", "worktrees/a-other", "outside/sub"} {
		if err := os.MkdirAll(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"chosen": "work", "work/out": "outside", "work/in": "work/sub", "work/tree": "worktrees/a-tree",
		"worktrees/a-swapped":  "outside",
		"worktrees/a-tree/out": "outside", "gate": "worktrees",
	} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		cwd, worktree string // of the agent; "" the run's
		held          bool
	}{
		"the run's":                                 {"", "", true},
		"below the run's":                           {"chosen/sub", "", true},
		"a link inside":                             {"chosen/in", "", true},
		"a link to a worktree of the run":           {"chosen/tree", "worktrees/a-tree", false},
		"a link out":                                {"chosen/out", "", false},
		"below a link out":                          {"chosen/out/sub", "", false},
		"its worktree":                              {"worktrees/a-tree/sub", "worktrees/a-tree", true},
		"its worktree, by a link above":             {"gate/a-tree/sub", "gate/a-tree", true},
		"a link out of its worktree":                {"worktrees/a-tree/out", "worktrees/a-tree", false},
		"a link in the place of its worktree":       {"worktrees/a-swapped", "worktrees/a-swapped", false},
		"below a link in the place of its worktree": {"worktrees/a-swapped/sub", "worktrees/a-swapped", false},
		"a worktree of nobody here":                 {"worktrees/a-other", "worktrees/a-tree", false},
		"a folder that is not there":                {"chosen/none", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			run := *s.State.Run
			run.Cwd = at("chosen")
			s2 := withAgent(s.State, Root, func(a *Agent) {
				if a.Cwd = run.Cwd; c.cwd != "" {
					a.Cwd = at(c.cwd)
				}
				if c.worktree != "" {
					a.Worktree = &checkpoints.Worktree{State: checkpoints.WorktreeMade, Path: at(c.worktree)}
				}
			})
			s2.Run = &run
			if err := s2.GroundsOf(Root).Hold(s2.Folder(Root), filepath.EvalSymlinks); (err == nil) != c.held {
				t.Errorf("it says %v", err)
			}
		})
	}
}
