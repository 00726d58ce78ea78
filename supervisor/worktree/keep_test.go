package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/gittest"
)

func TestAWorktreeIsRemovedUnlessSomethingWasLeftInIt(t *testing.T) {
	work := func(file string) func(t *testing.T, cwd string) {
		return func(t *testing.T, cwd string) { gittest.Put(t, filepath.Join(cwd, file), "work\n") }
	}
	for name, c := range map[string]struct {
		do    func(t *testing.T, cwd string)
		named []string
		want  checkpoints.Worktree // State, Tip, Loose, Commits, Problem
	}{
		"nothing":          {func(*testing.T, string) {}, nil, checkpoints.Worktree{State: checkpoints.WorktreeRemoved}},
		"what git ignores": {work("x.ignored"), nil, checkpoints.Worktree{State: checkpoints.WorktreeRemoved}},
		"a file read": {work("x.ignored"), []string{"sub/a.txt", "gone.md", "/etc/passwd"},
			checkpoints.Worktree{State: checkpoints.WorktreeRemoved}},
		"the folder itself": {func(t *testing.T, cwd string) {
			_ = os.RemoveAll(cwd)
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeRemoved}},
		"what git ignores and the report names": {work("x.ignored"), []string{"x.ignored"}, checkpoints.Worktree{
			State: checkpoints.WorktreeKept, Tip: markerBranch, Problem: "its report names x.ignored, which git ignores",
		}},
		"a change": {work("sub/a.txt"), nil,
			checkpoints.Worktree{State: checkpoints.WorktreeKept, Tip: markerBranch, Loose: 1}},
		"a new file": {work("new"), nil, checkpoints.Worktree{State: checkpoints.WorktreeKept, Tip: markerBranch, Loose: 1}},
		"a commit": {func(t *testing.T, cwd string) {
			work("new")(t, cwd)
			gittest.Committed(t, cwd, "work")
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeKept, Tip: markerBranch, Commits: 1}},
		"commits, and the folder is gone": {func(t *testing.T, cwd string) {
			work("new")(t, cwd)
			gittest.Committed(t, cwd, "work")
			_ = os.RemoveAll(cwd)
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeKept, Tip: markerBranch, Commits: 1}},
		"a commit on another branch": {func(t *testing.T, cwd string) {
			gittest.GitIn(t, cwd, "checkout", "--quiet", "-b", "feature")
			work("new")(t, cwd)
			gittest.Committed(t, cwd, "work")
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeKept, Tip: "feature", Commits: 1}},
		"commits on two branches": {func(t *testing.T, cwd string) {
			work("new")(t, cwd)
			gittest.Committed(t, cwd, "work")
			gittest.GitIn(t, cwd, "checkout", "--quiet", "-b", "feature", "HEAD~")
		}, nil, checkpoints.Worktree{
			State: checkpoints.WorktreeKept, Tip: "feature",
			Problem: "its branch " + markerBranch + " has commits that are not checked out in it",
		}},
		"a change at which git does not look": {func(t *testing.T, cwd string) {
			gittest.GitIn(t, cwd, "update-index", "--assume-unchanged", "sub/a.txt")
			work("sub/a.txt")(t, cwd)
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeKept,
			Tip: markerBranch, Problem: "git was told not to look at some of its files"}},
		"a change of what is called not there": {func(t *testing.T, cwd string) {
			gittest.GitIn(t, cwd, "config", "core.sparseCheckout", "true")
			gittest.GitIn(t, cwd, "update-index", "--skip-worktree", "sub/a.txt")
			work("sub/a.txt")(t, cwd)
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeKept,
			Tip: markerBranch, Problem: "git was told not to look at some of its files"}},
		"a stash": {func(t *testing.T, cwd string) {
			work("sub/a.txt")(t, cwd)
			gittest.GitIn(t, cwd, "stash", "--quiet") // which is the repository's, and stays
		}, nil, checkpoints.Worktree{State: checkpoints.WorktreeRemoved}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := gittest.Project(t)
			w, cwd := made(t, siteIn(folder))
			c.do(t, cwd)
			got := ended(t, w, cwd, c.named...)
			said := checkpoints.Worktree{State: got.State, Tip: got.Tip, Loose: got.Loose, Commits: got.Commits,
				Problem: got.Problem}
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Fatal(diff)
			}
			if got.State == checkpoints.WorktreeRemoved {
				if there(t, w.Path) || there(t, filepath.Dir(w.Path)) || branches(t, folder) != "" ||
					strings.Contains(gittest.GitIn(t, folder, "worktree", "list"), markerAgent) {
					t.Error("not all of it is removed")
				}
				if again := ended(t, w, cwd); again.State != checkpoints.WorktreeRemoved {
					t.Errorf("looked through again it is %+v", again)
				}
			} else if branches(t, folder) == "" {
				t.Error("its branch is gone")
			}
		})
	}
}

// The commands that a person is told do what they say, in folders with odd names too.
func TestTheCommandsOfAKeptWorktreeMergeOrDropIt(t *testing.T) {
	for name, work := range map[string]func(t *testing.T, cwd string){
		"loose": func(t *testing.T, cwd string) { gittest.Put(t, filepath.Join(cwd, "new"), "work\n") },
		"committed": func(t *testing.T, cwd string) {
			gittest.Put(t, filepath.Join(cwd, "new"), "work\n")
			gittest.Committed(t, cwd, "work")
		},
		"on a branch that is called like an option": func(t *testing.T, cwd string) {
			gittest.GitIn(t, cwd, "update-ref", "refs/heads/--strategy=none", "HEAD")
			gittest.GitIn(t, cwd, "symbolic-ref", "HEAD", "refs/heads/--strategy=none")
			gittest.Put(t, filepath.Join(cwd, "new"), "work\n")
			gittest.Committed(t, cwd, "work")
		},
		"loose on no branch": func(t *testing.T, cwd string) {
			gittest.GitIn(t, cwd, "checkout", "--quiet", "--detach")
			gittest.Put(t, filepath.Join(cwd, "new"), "work\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := gittest.Project(t)
			w, cwd := made(t, siteIn(folder))
			work(t, cwd)
			merge, drop := ended(t, w, cwd).Commands(folder)
			sh := func(commands []string) {
				cmd := exec.Command("/bin/sh", "-e", "-c", strings.Join(commands, "\n"))
				cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a",
					"GIT_COMMITTER_EMAIL=a@localhost", "GIT_CONFIG_GLOBAL=/dev/null")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", commands, err, out)
				}
			}
			sh(merge)
			gittest.WantFile(t, filepath.Join(folder, "new"), "work\n")
			sh(drop)
			if there(t, w.Path) || branches(t, folder) != "" {
				t.Error("not all of it is dropped")
			}
		})
	}
}

func TestAKeptWorktreeIsTakenUpAgain(t *testing.T) {
	for name, lose := range map[string]bool{"as it is": false, "anew from its branch, where its folder is gone": true} {
		t.Run(name, func(t *testing.T) {
			folder := gittest.Project(t)
			w, cwd := made(t, siteIn(folder))
			gittest.Put(t, filepath.Join(cwd, "new"), "work\n")
			gittest.Committed(t, cwd, "work")
			kept := ended(t, w, cwd)
			if lose {
				if err := os.RemoveAll(w.Path); err != nil {
					t.Fatal(err)
				}
			}
			p := siteIn(folder)
			p.Want = kept
			again, at := made(t, p)
			if diff := cmp.Diff(w, again); diff != "" || at != cwd {
				t.Errorf("in %s: %s", at, diff)
			}
			gittest.WantFile(t, filepath.Join(cwd, "new"), "work\n")
			if got := gittest.GitIn(t, cwd, "status", "--porcelain", "--branch"); got != "## "+markerBranch {
				t.Errorf("git finds %q", got)
			}
		})
	}
}

// What an agent has made of its worktree's .git is not followed: another repository would be looked through, and
// removed.
func TestAWorktreeThatIsAnothersIsKept(t *testing.T) {
	folder, other := gittest.Project(t), gittest.Project(t)
	w, cwd := made(t, siteIn(folder))
	gittest.Put(t, filepath.Join(cwd, ".git"), "gitdir: "+filepath.Join(other, ".git")+"\n")
	end := WorktreeEnd{Worktree: w, Cwd: cwd, Marker: siteIn("").Marker}
	got, err := end.Look(t.Context())
	if err == nil || got.State != checkpoints.WorktreeKept || !there(t, w.Path) ||
		!slices.Contains([]string{w.Branch}, got.Tip) {
		t.Errorf("it is %+v, %v", got, err)
	}
}

func TestAWorktreeInWhichOthersStillWorkIsKept(t *testing.T) {
	folder := gittest.Project(t)
	w, cwd := made(t, siteIn(folder))
	end := WorktreeEnd{Worktree: w, Cwd: cwd, Keep: true, Marker: siteIn("").Marker}
	got, err := end.Look(t.Context())
	if err != nil || got.State != checkpoints.WorktreeKept || got.Problem == "" || !there(t, w.Path) {
		t.Errorf("it is %+v, %v", got, err)
	}
}
