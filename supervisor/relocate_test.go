package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

func TestAFolderThatWasRenamedTakesAllBelowItAlong(t *testing.T) {
	for _, c := range []struct{ from, to, path, want string }{
		{"/src/it", "/src/that", "/src/it/sub", "/src/that/sub"},
		{"/src/it", "/src/that", "/src/it", "/src/that"},
		{"/src/it", "/src/that", "/src/item", "/src/item"},
		{"/src/it", "/src/that", "/src/.it-worktrees/a", "/src/.it-worktrees/a"}, // it stays beside
		{"/src/it", "/code/it", "/src/.it-worktrees/a", "/code/.it-worktrees/a"}, // src has another name
		{"/src/it/sub", "/src/that/sub", "/src/it", "/src/that"},
		{"/src/it", "/elsewhere/that", "/src/.it-worktrees/a", "/src/.it-worktrees/a"},
		{"/it", "/that/it", "/it/sub", "/that/it/sub"},
		{"/src/it", "/src/it", "/src/it/sub", "/src/it/sub"},
		{"/src/it", "/src/that", "", ""},
	} {
		if got := text.Renamed(c.from, c.to)(c.path); got != c.want {
			t.Errorf("where %s became %s, %q is at %q, not %q", c.from, c.to, c.path, got, c.want)
		}
	}
}

func TestAgentsAreToldThatTheFolderOfTheirRunWasRenamed(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"}, task.Work{Task: "Sort",
		Cwd: "/work/sub"})
	tree := *wanted()
	tree.Repo, tree.From = "/work", "/work"
	s.Do(Placed{Agent: childID, Cwd: tree.Path, Worktree: &tree})
	s.Do(Started{Agent: childID, Launch: 1, PID: 7, StartTicks: 7})
	s.Do(TurnBegun{Agent: childID, Launch: 1})
	s.Do(Opened{PID: 2, Cwd: "/renamed"})
	if got := s.State.Run.Cwd; got != "/renamed" {
		t.Errorf("the run works in %s", got)
	}
	if a := s.child(); a.Cwd != tree.Path || a.Worktree.Path != tree.Path || a.Worktree.Repo != "/renamed" ||
		a.Worktree.From != "/renamed" || a.Worktree.State != checkpoints.WorktreeMade && a.Worktree.State != tree.State {
		t.Errorf("the child works in %s, with %+v", a.Cwd, a.Worktree)
	}
	if got := s.State.Folder(childID[:len(childID)-1] + "1"); got != "/renamed/sub" {
		t.Errorf("what was in the run's folder is in %s", got)
	}
	told := s.child().Outbox
	if len(told) == 0 || !strings.Contains(told[len(told)-1].Text, "Old folder: /work\nNew folder: /renamed\n") {
		t.Errorf("it is told %v", told)
	}
	before := len(told)
	s.Do(Opened{PID: 3, Cwd: "/renamed"})
	if got := s.child().Outbox; len(got) != before {
		t.Errorf("it is told again: %v", got[before:])
	}
}
