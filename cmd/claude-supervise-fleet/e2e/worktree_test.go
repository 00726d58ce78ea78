package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"claude-supervise/examples"
)

// A child of the real CLI has committed in its worktree and left something loose when its worker is killed. On the next
// worker it has both, in a worktree of the clone there, and asks the same question.
func TestTheWorktreeOfAChildGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	carried := filepath.Join("..", "..", "..", "e2e", "testdata", "carried")
	scenario, err := examples.Load(filepath.Join(carried, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := os.ReadFile(filepath.Join(carried, "task.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := realSitePlaying(t, scenario, nil)
	repo, commit := s.repo("house")
	one := s.worker("one")
	run := s.must(append([]string{"run", "--hold", "forever", "--lease", "3s", "-f", s.file("task.yaml", task), "--repo",
		"file://" + repo, scenario.Prompt, "--"}, scenario.ClaudeFlags...)...)
	q := s.asks(run, "one")
	before := s.treeOf(one, run, "1")
	one.signal(syscall.SIGKILL)
	two := s.worker("two")
	if again := s.asks(run, "two"); again != q {
		t.Errorf("it asks %s, and has asked %s", again, q)
	}
	tree := s.treeOf(two, run, "2")
	if filepath.Base(tree) != filepath.Base(before) {
		t.Errorf("the worktree of another: %s, not %s", tree, before)
	}
	for name, want := range map[string]string{"kept.txt": "committed\n", "loose.txt": "loose\n"} {
		if got, err := os.ReadFile(filepath.Join(tree, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	branch := "claude-supervise/" + run + "/" + filepath.Base(tree)
	if at := s.git(tree, "symbolic-ref", "--short", "HEAD"); at != branch {
		t.Errorf("it is on %s", at)
	}
	if base := s.git(two.work(run, "2"), "rev-parse", branch+"^"); base != commit {
		t.Errorf("its commit stands on %s, not on %s", base, commit)
	}
	s.must("answer", q, "blue")
	s.succeeds(run)
	s.workerIn(one.home, "one") // it ends the agents that the kill has left
	nothingIsLeft(t, run)
}

// treeOf returns the only worktree of a run of a worker.
func (s *site) treeOf(p *process, run, epoch string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(p.work(run, epoch)), ".work-worktrees", "a-*"))
	if err != nil || len(found) != 1 {
		s.t.Fatalf("its worktrees are %q, %v", found, err)
	}
	return found[0]
}
