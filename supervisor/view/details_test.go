package view

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

const (
	Root  = "a-rootrootroot"
	RunID = "r-storyrun"
)

const childID = "a-child0000000"

// A person takes over what was left, and removes the worktree: show has no commands any more that would fail.
func TestAWorktreeThatAPersonHasRemovedIsShownAsGone(t *testing.T) {
	kept := checkpoints.Worktree{State: checkpoints.WorktreeKept, Branch: "b", Tip: "b", Path: t.TempDir(),
		Repo: "/project", Loose: 2, Commits: 1}
	view := func() WorktreeView {
		agents := []supervisor.Agent{{ID: Root}, {ID: childID, Parent: Root,
			Workplace: checkpoints.Workplace{Worktree: &kept}}}
		return worktreeViews(supervisor.Run{Cwd: "/project"}, agents)[childID]
	}
	if v := view(); v.Path != kept.Path || len(v.Merge) != 3 || len(v.Drop) != 2 {
		t.Errorf("while it is there it is shown as %+v", v)
	}
	if err := os.Remove(kept.Path); err != nil {
		t.Fatal(err)
	}
	want := WorktreeView{
		State: checkpoints.WorktreeKept, Branch: "b", Left: "1 commit, its folder has been removed since",
		Merge: []string{"git -C /project merge b"}, Drop: []string{"git -C /project branch -D b"},
	}
	if diff := cmp.Diff(want, view()); diff != "" {
		t.Error(diff)
	}
}
