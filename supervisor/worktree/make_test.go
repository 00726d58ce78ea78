package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/sample"
	"claude-supervise/procs"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/internal/gittest"
)

const (
	markerAgent  = "a-child0000000"
	markerBranch = "claude-supervise/r-garden00/" + markerAgent
)

func siteIn(from string) Spec {
	return Spec{
		Agent: markerAgent, Want: checkpoints.Worktree{State: checkpoints.WorktreeWanted, Branch: markerBranch,
			From: from},
		Marker: procs.Marker{Run: "r-garden00", Agent: markerAgent, Launch: MarkerName},
	}
}

func made(t *testing.T, p Spec) (checkpoints.Worktree, string) {
	t.Helper()
	w, cwd, err := p.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w, cwd
}

// ended looks through a worktree as at the end of its agent, whose report names files.
func ended(t *testing.T, w checkpoints.Worktree, cwd string, named ...string) checkpoints.Worktree {
	t.Helper()
	end := WorktreeEnd{Worktree: w, Cwd: cwd, Named: named, Marker: siteIn("").Marker}
	got, err := end.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	return err == nil
}

func branches(t *testing.T, folder string) string {
	t.Helper()
	return gittest.GitIn(t, folder, "branch", "--list", "--format=%(refname:short)", "claude-supervise/*")
}

func TestAWorktreeStandsBesideTheProjectAndBeginsAtItsCommit(t *testing.T) {
	folder := gittest.Project(t)
	w, cwd := made(t, siteIn(filepath.Join(folder, "sub")))
	top := filepath.Join(filepath.Dir(folder), ".it's a project-worktrees", markerAgent)
	want := checkpoints.Worktree{
		State: checkpoints.WorktreeMade, Branch: markerBranch, From: filepath.Join(folder, "sub"), Path: top,
		Repo: folder, Base: gittest.GitIn(t, folder, "rev-parse", "HEAD"),
	}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Error(diff)
	}
	if cwd != filepath.Join(top, "sub") {
		t.Errorf("it works in %s", cwd)
	}
	gittest.WantFile(t, filepath.Join(cwd, "a.txt"), "one\n")
	if got := gittest.GitIn(t, cwd, "status", "--porcelain", "--branch"); got != "## "+markerBranch {
		t.Errorf("git finds %q", got)
	}
	if got := gittest.GitIn(t, folder, "status", "--porcelain"); got != "" {
		t.Errorf("in the project git finds %q", got)
	}
	for _, dir := range []string{top, filepath.Dir(top)} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestAWorktreeIsFoundWhereItsProjectWasRenamed(t *testing.T) {
	folder := gittest.Project(t)
	w, _ := made(t, siteIn(folder))
	renamed := folder + " renamed"
	if err := os.Rename(folder, renamed); err != nil {
		t.Fatal(err)
	}
	want := siteIn(renamed)
	want.Want = w
	want.Want.From, want.Want.Repo = renamed, renamed
	if _, _, err := want.Make(t.Context()); err == nil {
		t.Error("it is found before it is repaired, so this test shows nothing")
	}
	for range 2 {
		if err := Repair(t.Context(), want.Marker.Run, renamed, []string{w.Path}); err != nil {
			t.Fatal(err)
		}
		if got := gittest.GitIn(t, w.Path, "status", "--porcelain", "--branch"); got != "## "+markerBranch {
			t.Errorf("git finds %q", got)
		}
	}
	if again, cwd := made(t, want); again.Path != w.Path || cwd != w.Path {
		t.Errorf("it is at %s, the agent works in %s", again.Path, cwd)
	}
}

func TestWhatAWorktreeLacksIsTold(t *testing.T) {
	folder := gittest.Project(t)
	gittest.Put(t, filepath.Join(folder, ".gitattributes"), "*.bin filter=lfs\n")
	gittest.GitIn(t, folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", gittest.Project(t),
		"module")
	gittest.Committed(t, folder, "more")
	gittest.Put(t, filepath.Join(folder, "sub", "a.txt"), "two\n")
	gittest.Put(t, filepath.Join(folder, "new"), "")
	gittest.Put(t, filepath.Join(folder, "not.ignored"), "")
	w, cwd := made(t, siteIn(folder))
	want := []string{
		"2 changes that are not committed in " + folder,
		"the files of submodules (git submodule update --init gets them)",
		"what filters such as git-lfs make of files (git lfs pull gets it)",
	}
	if diff := cmp.Diff(want, w.Lacks); diff != "" {
		t.Error(diff)
	}
	gittest.WantFile(t, filepath.Join(cwd, "sub", "a.txt"), "one\n")
	if got := ended(t, w, cwd); got.State != checkpoints.WorktreeRemoved || there(t, w.Path) {
		t.Errorf("a worktree with submodules in which nobody worked is %+v", got)
	}
}

// What git can be asked to do in some repositories it cannot in others; the agent then works in its parent's folder.
func TestWhereNoWorktreeCanBeMadeTheReasonIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		folder func(t *testing.T, folder string) string
		want   string
	}{
		"no repository": {func(t *testing.T, _ string) string { return t.TempDir() }, "is in no git work tree"},
		"no commit": {func(t *testing.T, _ string) string {
			empty := t.TempDir()
			gittest.InRepository(t, empty)
			return empty
		}, "nothing is committed yet in "},
		"a bare repository": {func(t *testing.T, folder string) string {
			bare := filepath.Join(t.TempDir(), "bare.git")
			gittest.GitIn(t, folder, "clone", "--quiet", "--bare", folder, bare)
			return bare
		}, "is in no git work tree"},
		"a branch in the way": {func(t *testing.T, folder string) string {
			gittest.GitIn(t, folder, "branch", "claude-supervise")
			return folder
		}, "'refs/heads/claude-supervise' exists"},
		"its own branch, with work on it": {func(t *testing.T, folder string) string {
			gittest.GitIn(t, folder, "checkout", "--quiet", "-b", markerBranch)
			gittest.Put(t, filepath.Join(folder, "b"), "")
			gittest.Committed(t, folder, "somebody's")
			gittest.GitIn(t, folder, "checkout", "--quiet", "topic")
			return folder
		}, "there is a branch " + markerBranch + " already"},
		"a file in the way": {func(t *testing.T, folder string) string {
			gittest.Put(t, filepath.Join(filepath.Dir(folder), ".it's a project-worktrees"), "")
			return folder
		}, "is not a folder of yours"},
		"its own folder, with work in it": {func(t *testing.T, folder string) string {
			w, cwd := made(t, siteIn(folder))
			gittest.Put(t, filepath.Join(cwd, "new"), "")
			t.Cleanup(func() { gittest.WantFile(t, filepath.Join(w.Path, "new"), "") })
			return folder
		}, "already, with work in it"},
		"a link in the way": {func(t *testing.T, folder string) string {
			if err := os.Symlink(t.TempDir(), filepath.Join(filepath.Dir(folder), ".it's a project-worktrees")); err != nil {
				t.Fatal(err)
			}
			return folder
		}, "is not a folder of yours"},
		"a commit whose folder is a link": {func(t *testing.T, folder string) string {
			out := t.TempDir()
			if err := os.Symlink(out, filepath.Join(folder, "odd")); err != nil {
				t.Fatal(err)
			}
			gittest.Committed(t, folder, "link")
			if err := os.Remove(filepath.Join(folder, "odd")); err != nil {
				t.Fatal(err)
			}
			gittest.Put(t, filepath.Join(folder, "odd", "x"), "")
			return filepath.Join(folder, "odd")
		}, "the worktree has no folder odd"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := gittest.Project(t)
			from := c.folder(t, folder)
			before := branches(t, folder) + gittest.GitIn(t, folder, "worktree", "list")
			_, _, err := siteIn(from).Make(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the error is %v, not %q", err, c.want)
			}
			if after := branches(t, folder) + gittest.GitIn(t, folder, "worktree", "list"); before != after {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

// A kill at any moment leaves a worktree half made; nobody has worked in it yet.
func TestAWorktreeThatIsHalfMadeIsMadeAnew(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, folder, path string){
		"whole": func(t *testing.T, folder, path string) {
			gittest.GitIn(t, folder, "worktree", "add", "--quiet", "-b", markerBranch, path)
		},
		"without its files": func(t *testing.T, folder, path string) {
			gittest.GitIn(t, folder, "worktree", "add", "--quiet", "--no-checkout", "-b", markerBranch, path)
			gittest.Put(t, filepath.Join(path, "sub", "a.txt"), "o")
		},
		"an empty folder": func(t *testing.T, _, path string) {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"only a branch": func(t *testing.T, folder, _ string) { gittest.GitIn(t, folder, "branch", markerBranch) },
		"without its folder": func(t *testing.T, folder, path string) {
			gittest.GitIn(t, folder, "worktree", "add", "--quiet", "-b", markerBranch, path)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		},
		"at an older commit": func(t *testing.T, folder, path string) {
			gittest.GitIn(t, folder, "worktree", "add", "--quiet", "-b", markerBranch, path)
			gittest.Put(t, filepath.Join(folder, "b.txt"), "b\n")
			gittest.Committed(t, folder, "more")
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := gittest.Project(t)
			leave(t, folder, filepath.Join(filepath.Dir(folder), ".it's a project-worktrees", markerAgent))
			w, cwd := made(t, siteIn(folder))
			gittest.WantFile(t, filepath.Join(cwd, "sub", "a.txt"), "one\n")
			if got := gittest.GitIn(t, cwd, "status", "--porcelain", "--branch"); got != "## "+markerBranch {
				t.Errorf("git finds %q", got)
			}
			if head := gittest.GitIn(t, folder, "rev-parse", "HEAD"); w.Base != head ||
				gittest.GitIn(t, cwd, "rev-parse", "HEAD") != head {
				t.Errorf("it begins at %s, the project is at %s", w.Base, head)
			}
		})
	}
}

func TestTheWorktreesOfAChildsChildrenStandBesideItsOwn(t *testing.T) {
	folder := gittest.Project(t)
	w, cwd := made(t, siteIn(folder))
	gittest.Put(t, filepath.Join(cwd, "b.txt"), "b\n")
	gittest.Committed(t, cwd, "the child's")
	p := siteIn(cwd)
	p.Agent, p.Above, p.Want.Branch = "a-grandchild00", &w, "claude-supervise/r-garden00/a-grandchild00"
	below, at := made(t, p)
	if below.Path != filepath.Join(filepath.Dir(w.Path), "a-grandchild00") || below.Repo != folder {
		t.Errorf("it is %+v", below)
	}
	gittest.WantFile(t, filepath.Join(at, "b.txt"), "b\n")
}

func TestAWorktreeInsideAnotherRepositoryIsNoneOfItsFiles(t *testing.T) {
	outer := gittest.Project(t)
	inner := filepath.Join(outer, "vendored")
	gittest.Put(t, filepath.Join(inner, "c"), "")
	gittest.InRepository(t, inner)
	gittest.Committed(t, inner, "inner")
	gittest.Put(t, filepath.Join(outer, ".git", "info", "exclude"), "vendored\n")
	made(t, siteIn(inner))
	if got := gittest.GitIn(t, outer, "status", "--porcelain"); got != "" {
		t.Errorf("git finds %q", got)
	}
}

func TestNoProgramOfTheRepositoryRunsForAWorktree(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(base, "p")
	gittest.Put(t, filepath.Join(folder, "x"), "")
	ran := gittest.NamesPrograms(t, folder)
	gittest.GitIn(t, folder, "-c", "filter.x.required=false", "-c", "filter.x.clean=", "-c", "filter.x.process=",
		"-c", "core.hooksPath=/dev/null", "add", ".gitattributes")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit"} {
		program := filepath.Join(base, "hooks", hook)
		gittest.Put(t, program, "#!/bin/sh\necho $0 >> "+ran+"\n")
		if err := os.Chmod(program, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gittest.GitIn(t, folder, "config", "core.hooksPath", filepath.Join(base, "hooks"))
	if err := os.RemoveAll(ran); err != nil { // what the setting up ran
		t.Fatal(err)
	}
	w, cwd := made(t, siteIn(folder))
	gittest.WantFile(t, filepath.Join(cwd, "a.txt"), "one\n")
	if got := ended(t, w, cwd); got.State != checkpoints.WorktreeRemoved {
		t.Errorf("it is %+v", got)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("ran:\n%s", text)
	}
	// whatever it makes of that
	_ = exec.Command("git", "-C", folder, "worktree", "add", filepath.Join(base, "by-hand")).Run()
	if !there(t, ran) {
		t.Error("git runs none of them anyway")
	}
}

// From 2.54 on git runs hooks that the configuration names, too, wherever core.hooksPath leads. So does the git of this
// test.
func TestNoHookOfTheConfigurationRunsForAWorktree(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	folder, bin, ran := gittest.Project(t), t.TempDir(), filepath.Join(t.TempDir(), "ran")
	gittest.Put(t, filepath.Join(bin, "git"), `#!/bin/sh
set -f
`+real+` "$@"
code=$?
while [ "$1" = -c ]; do settings="$settings -c $2"; shift 2; done
case $1 in worktree | update-ref)
	`+real+` $settings config --get-regexp '^hook\..*\.command$' | while read -r key program; do
		name=${key#hook.}
		name=${name%.command}
		[ "$(`+real+` $settings config --type=bool --get "hook.$name.enabled")" = false ] || $program
	done ;;
esac
exit $code
`)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "A=b.c", "-x"} {
		gittest.GitIn(t, folder, "config", "hook."+name+".event", "reference-transaction")
		gittest.GitIn(t, folder, "config", "hook."+name+".command", "touch "+ran)
		gittest.GitIn(t, folder, "config", "hook."+name+".enabled", "true")
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w, cwd := made(t, siteIn(folder))
	if got := ended(t, w, cwd); got.State != checkpoints.WorktreeRemoved {
		t.Errorf("it is %+v", got)
	}
	if there(t, ran) {
		t.Error("a hook of the configuration ran")
	}
	byHand := exec.Command("git", "update-ref", "refs/heads/by-hand", "HEAD")
	byHand.Dir = folder
	if err := byHand.Run(); err != nil || !there(t, ran) {
		t.Error("this git runs none of them anyway")
	}
}

// git reads of all worktrees of a repository when it makes one, and fails over one that comes or goes just then.
func TestAWaitForTheLockOfARepositoryEndsWithItsContext(t *testing.T) {
	folder := t.TempDir()
	other := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped, before := errors.New("stopped"), runtime.NumGoroutine()
	cancel(stopped)
	if err := (repo{Shadow: &git.Shadow{Common: folder}}).worktree(ctx, "list"); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	if left := runtime.NumGoroutine() - before; left > 0 {
		t.Errorf("%d waits are left", left)
	}
}

func TestWorktreesAreMadeAndRemovedBesideEachOther(t *testing.T) {
	folder := gittest.Project(t)
	var agents errgroup.Group
	for i := range 8 {
		agents.Go(func() error {
			agent := fmt.Sprintf("a-child%07d", i)
			p := Spec{
				Agent: agent, Want: checkpoints.Worktree{State: checkpoints.WorktreeWanted,
					Branch: "claude-supervise/r-garden00/" + agent, From: folder},
				Marker: procs.Marker{Run: "r-garden00", Agent: agent, Launch: MarkerName},
			}
			for range 2 {
				w, cwd, err := p.Make(t.Context())
				if err != nil {
					return fmt.Errorf("made: %w", err)
				}
				end := WorktreeEnd{Worktree: w, Cwd: cwd, Marker: p.Marker}
				if got, err := end.Look(t.Context()); err != nil || got.State != checkpoints.WorktreeRemoved {
					return fmt.Errorf("looked through: %+v, %w", got, err)
				}
			}
			return nil
		})
	}
	if err := agents.Wait(); err != nil {
		t.Error(err)
	}
}

// Out of memory, the kernel kills whatever it likes. The stand-in for git of this test is killed once, at any of its
// calls: at every other one before it has done what it was called for.
func TestAWorktreeIsMadeAndLookedThroughWhicheverGitIsKilled(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	first, every := 1, 1
	if testing.Short() {
		every = 5
		first += sample.Number(t, "CLAUDE_SUPERVISE_TEST_SEED", 1) % every
	}
	for call, calls := first, first; call <= calls; call += every {
		calls = 0
		when := []string{"before", "after"}[call%2]
		t.Run(when+" call "+strconv.Itoa(call), func(t *testing.T) {
			folder, bin := gittest.Project(t), t.TempDir()
			gittest.Put(t, filepath.Join(bin, "git"), `#!/bin/sh
echo >>`+bin+`/calls
[ $(wc -l <`+bin+`/calls) = `+strconv.Itoa(call)+` ] || exec `+real+` "$@"
[ `+when+` = before ] || `+real+` "$@" >/dev/null
kill -KILL $$
`)
			if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
				t.Fatal(err)
			}
			path := os.Getenv("PATH")
			t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
			var w checkpoints.Worktree
			var cwd string
			if err := Persistently(t.Context(), func() (err error) {
				w, cwd, err = siteIn(folder).Make(t.Context())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			end := WorktreeEnd{Worktree: w, Cwd: cwd, Marker: siteIn("").Marker}
			var got checkpoints.Worktree
			if err := Persistently(t.Context(), func() (err error) {
				got, err = end.Look(t.Context())
				return err
			}); err != nil || got.State != checkpoints.WorktreeRemoved {
				t.Fatalf("it is %+v (%v)", got, err)
			}
			all, err := os.ReadFile(filepath.Join(bin, "calls"))
			if err != nil {
				t.Fatal(err)
			}
			calls = len(all)
			if err := os.Setenv("PATH", path); err != nil {
				t.Fatal(err)
			}
			if there(t, filepath.Dir(w.Path)) || branches(t, folder) != "" ||
				strings.Contains(gittest.GitIn(t, folder, "worktree", "list"), markerAgent) {
				t.Error("not all of it is removed")
			}
		})
	}
}
