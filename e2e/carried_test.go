package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/supervisor/view"
)

// A child of the real CLI has committed in its worktree and left something loose when it asks, and the run is parked,
// packed or taken over from a snapshot. It goes on in another clone, with another home: the child finds both there, in a
// worktree of that clone, and its commit can be merged by the branch that its parent was told.
func TestTheWorkOfAChildGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	scenario, err := examples.Load("testdata/carried/scenario.yaml")
	noError(t, err)
	for _, from := range sample.Pick(t.Name(), []string{"a pack file", "a snapshot"}) {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			here := newWorld(t)
			here.inGit()
			here = here.real(scenario, func(messagesapi.Request) {})
			dir := t.TempDir()
			args := []string{"-f", inTestdata("carried/task.yaml"), "--hold", "0", "--on-question", "park"}
			if from == "a snapshot" {
				args = append(args, "--snapshots", dir)
			}
			here.start(here.runArgs(scenario, args...)...).wait()
			r := here.ps()
			question := here.questions()[0].ID
			there := here.elsewhere()
			there.Cwd = filepath.Join(t.TempDir(), "there", "project")
			git(t, filepath.Dir(here.Cwd), "clone", "--quiet", here.Cwd, there.Cwd)
			file := filepath.Join(dir, r.ID)
			if from == "a pack file" {
				file = filepath.Join(dir, "run.tar.gz")
				if said := here.must("pack", r.ID, "-o", file); strings.Contains(said, "is not packed") {
					t.Error(said)
				}
			}
			lacksNone(t, "unpack", there.must("unpack", file), "worktree of ")
			there.must("answer", question, "blue")
			there.ends(there.start(append([]string{"resume", r.ID, "--on-question", "ask", "--"},
				scenario.ClaudeFlags...)...), 0)

			var d view.Details
			noError(t, json.Unmarshal([]byte(there.must("show", r.ID, "--json")), &d))
			if len(d.Worktrees) != 1 {
				t.Fatalf("the worktrees are %+v", d.Worktrees)
			}
			for agent, w := range d.Worktrees {
				path := filepath.Join(filepath.Dir(there.Cwd), ".project-worktrees", agent)
				if w.State != checkpoints.WorktreeKept || w.Path != path || w.Left != "1 commit, 2 changes not committed" {
					t.Errorf("it is left as %+v", w)
				}
				both, err := os.ReadFile(filepath.Join(path, "both.txt"))
				if err != nil || string(both) != "committed\nloose\nblue\n" {
					t.Errorf("the child has found %q, %v", both, err)
				}
			}
			if got := there.got("GATHERED"); got != "begin\npainted by the child\n" {
				t.Errorf("its parent has found %q", got)
			}
		})
	}
}
