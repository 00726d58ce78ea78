package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/gittest"
)

// asSomebody returns the person of the test a name, and no configuration but that of a file, which it returns.
func asSomebody(t *testing.T) (config string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), "gitconfig")
	gittest.Put(t, config, "[user]\n\tname = p\n\temail = p@localhost\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return config
}

// leftBehind is a worktree in which an agent has worked, after work has been done in it.
func leftBehind(t *testing.T, work func(path string)) Takeover {
	t.Helper()
	folder := gittest.Project(t)
	w, cwd := made(t, siteIn(folder))
	work(w.Path)
	if plain, err := os.ReadFile(filepath.Join(w.Path, ".git")); err != nil || !strings.Contains(string(plain), "/worktrees/") {
		w.State, w.Tip, w.Loose = checkpoints.WorktreeKept, w.Branch, 1 // as if it was replaced after the look
		return Takeover{Worktree: w, Into: folder}
	}
	w = ended(t, w, cwd)
	if w.State != checkpoints.WorktreeKept {
		t.Fatalf("the worktree is %s", w.State)
	}
	return Takeover{Worktree: w, Into: folder}
}

// merges wants a merge to be done, and to have been said so.
func merges(t *testing.T, left Takeover) {
	t.Helper()
	said, err := left.Merge(t.Context())
	if err != nil || !strings.HasPrefix(said, "Merged into ") {
		t.Fatalf("it says %q, %v", said, err)
	}
}

// refuses wants a merge to be refused for a reason, and the work tree to be as it was.
func refuses(t *testing.T, left Takeover, why string) {
	t.Helper()
	was := gittest.GitIn(t, left.Repo, "rev-parse", "HEAD") + gittest.GitIn(t, left.Repo, "status", "--porcelain")
	said, err := left.Merge(t.Context())
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("it says %q, %v; not %q", said, err, why)
	}
	if is := gittest.GitIn(t, left.Repo, "rev-parse", "HEAD") + gittest.GitIn(t, left.Repo, "status",
		"--porcelain"); is != was {
		t.Errorf("the work tree was %q and is %q", was, is)
	}
}

func TestWhatIsLeftInAWorktreeIsMergedAndDropped(t *testing.T) {
	asSomebody(t)
	left := leftBehind(t, func(path string) {
		gittest.Put(t, filepath.Join(path, "committed.txt"), "one\n")
		gittest.Committed(t, path, "one")
		gittest.Put(t, filepath.Join(path, "loose.txt"), "two\n")
	})
	gittest.Put(t, filepath.Join(left.Repo, "mine.txt"), "not committed\n") // a dirty checkout stays so
	merges(t, left)
	for name, text := range map[string]string{"committed.txt": "one\n", "loose.txt": "two\n", "mine.txt": "not committed\n"} {
		gittest.WantFile(t, filepath.Join(left.Repo, name), text)
	}
	if status := gittest.GitIn(t, left.Repo, "status", "--porcelain"); status != "?? mine.txt" {
		t.Errorf("git shows %q", status)
	}
	if said, err := left.Merge(t.Context()); err != nil || !strings.HasPrefix(said, "All of it is in ") {
		t.Errorf("a second time it says %q, %v", said, err)
	}
	if said, err := left.Drop(t.Context()); err != nil {
		t.Errorf("it says %q, %v", said, err)
	}
	if there(t, left.Path) || branches(t, left.Repo) != "" {
		t.Error("the worktree or its branch is still there")
	}
}

func TestAMergeThatConflictsIsTakenBack(t *testing.T) {
	asSomebody(t)
	left := leftBehind(t, func(path string) {
		gittest.Put(t, filepath.Join(path, "both.txt"), "theirs\n")
		gittest.Committed(t, path, "theirs")
	})
	gittest.Put(t, filepath.Join(left.Repo, "both.txt"), "mine\n")
	gittest.Committed(t, left.Repo, "mine")
	gittest.Put(t, filepath.Join(left.Repo, "loose.txt"), "not committed\n")
	refuses(t, left, "both sides have changed both.txt. The merge was undone")
	var conflict *ConflictError
	if _, err := left.Merge(t.Context()); !errors.As(err, &conflict) || !slices.Equal(conflict.Files, []string{"both.txt"}) {
		t.Errorf("it says %v", err)
	}
	gittest.WantFile(t, filepath.Join(left.Repo, "loose.txt"), "not committed\n")
}

func TestAMergeTouchesNothingThatWasNotCommitted(t *testing.T) {
	asSomebody(t)
	left := leftBehind(t, func(path string) {
		gittest.Put(t, filepath.Join(path, "loose.txt"), "theirs\n")
		gittest.Committed(t, path, "theirs")
	})
	gittest.Put(t, filepath.Join(left.Repo, "loose.txt"), "not committed\n")
	refuses(t, left, "loose.txt")
	gittest.WantFile(t, filepath.Join(left.Repo, "loose.txt"), "not committed\n")
}

func TestAMergeThatIsUnderWayIsLeftAlone(t *testing.T) {
	asSomebody(t)
	left := leftBehind(t, func(path string) {
		gittest.Put(t, filepath.Join(path, "new.txt"), "theirs\n")
		gittest.Committed(t, path, "theirs")
	})
	gittest.GitIn(t, left.Repo, "merge", "--quiet", "--no-ff", "--no-commit", left.Tip)
	refuses(t, left, "a merge is under way in "+left.Repo)
	if !there(t, filepath.Join(left.Repo, ".git", "MERGE_HEAD")) {
		t.Error("the person's merge was taken back")
	}
}

// What an agent's branch holds, and what it has made of its worktree, chooses no program of the person's.
func TestAMergeRunsNothingThatAnAgentHasChosen(t *testing.T) {
	for name, attack := range map[string]struct {
		work func(t *testing.T, path, program string)
		why  string // it is refused; empty: it is merged, and runs nothing
	}{
		"a filter for a file that is committed": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, ".gitattributes"), "*.txt filter=x\n")
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			gittest.Committed(t, path, "attributes")
		}, "it changes .gitattributes, which chooses what your filter.x, merge.x are run on"},
		"a filter for a file that is loose": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, "deep", ".gitattributes"), "*.txt filter=x\n")
			gittest.Put(t, filepath.Join(path, "deep", "new.txt"), "x\n")
		}, "it changes deep/.gitattributes"},
		"a filter that is ignored": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, ".gitignore"), ".gitattributes\n")
			gittest.Put(t, filepath.Join(path, ".gitattributes"), "*.txt filter=x\n")
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
		}, "it changes .gitattributes"},
		"attributes that git was told not to look at": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			gittest.GitIn(t, path, "update-index", "--assume-unchanged", "sub/a.txt")
		}, "git was told not to look at some of its files"},
		"a merge driver": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, ".gitattributes"), "* merge=x\n")
			gittest.Put(t, filepath.Join(path, "a.txt"), "theirs\n")
			gittest.Committed(t, path, "attributes")
		}, "it changes .gitattributes"},
		"a git folder of its own": {func(t *testing.T, path, program string) {
			evil := filepath.Join(path, "evil")
			gittest.GitIn(t, path, "init", "--quiet", evil)
			gittest.GitIn(t, evil, "config", "filter.own.clean", program)
			gittest.Put(t, filepath.Join(path, ".gitattributes"), "*.txt filter=own\n")
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			if err := os.WriteFile(filepath.Join(path, ".git"), []byte("gitdir: evil/.git\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is not a worktree of"},
		"the person's git folder": {func(t *testing.T, path, _ string) {
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			common := gittest.GitIn(t, path, "rev-parse", "--path-format=absolute", "--git-common-dir")
			if err := os.WriteFile(filepath.Join(path, ".git"), []byte("gitdir: "+common+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is no longer a worktree of its own"},
		"a hook": {func(t *testing.T, path, program string) {
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			common := gittest.GitIn(t, path, "rev-parse", "--path-format=absolute", "--git-common-dir")
			for _, hook := range []string{"pre-commit", "post-commit", "post-merge", "reference-transaction",
				"prepare-commit-msg", "post-checkout", "pre-merge-commit", "post-index-change", "commit-msg"} {
				if err := os.MkdirAll(filepath.Join(common, "hooks"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(program, filepath.Join(common, "hooks", hook)); err != nil {
					t.Fatal(err)
				}
			}
		}, ""},
		"a tag of the branch's name": {func(t *testing.T, path, _ string) {
			base := gittest.GitIn(t, path, "rev-parse", "HEAD")
			branch := gittest.GitIn(t, path, "symbolic-ref", "--short", "HEAD")
			gittest.Put(t, filepath.Join(path, ".gitattributes"), "* filter=x merge=x\n")
			gittest.Put(t, filepath.Join(path, "evil.txt"), "x\n")
			gittest.Committed(t, path, "evil")
			gittest.GitIn(t, path, "tag", branch)
			gittest.GitIn(t, path, "reset", "--quiet", "--hard", base)
			gittest.Put(t, filepath.Join(path, "new.txt"), "x\n")
			gittest.Committed(t, path, "harmless")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := asSomebody(t)
			ran := filepath.Join(t.TempDir(), "ran")
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			gittest.Put(t, config, "[user]\n\tname = p\n\temail = p@localhost\n[filter \"x\"]\n\tclean = "+program+
				"\n\tsmudge = "+program+"\n[merge \"x\"]\n\tdriver = "+program+" %A\n[core]\n\tfsmonitor = "+program+"\n")
			left := leftBehind(t, func(path string) { attack.work(t, path, program) })
			if attack.why == "" {
				merges(t, left)
				gittest.WantFile(t, filepath.Join(left.Repo, "new.txt"), "x\n")
			} else {
				refuses(t, left, attack.why)
			}
			if done, err := os.ReadFile(ran); err == nil {
				t.Errorf("it has run %s", done)
			}
		})
	}
}

// A person's own filter for files of theirs is run: the merged file is as in their other checkouts.
func TestAMergeRunsThePersonsFilters(t *testing.T) {
	config := asSomebody(t)
	gittest.Put(t, config, "[user]\n\tname = p\n\temail = p@localhost\n[filter \"x\"]\n\tclean = tr a-z A-Z\n"+
		"\tsmudge = tr A-Z a-z\n")
	folder := gittest.Project(t)
	gittest.Put(t, filepath.Join(folder, ".gitattributes"), "*.up filter=x\n")
	gittest.Committed(t, folder, "attributes")
	w, cwd := made(t, siteIn(folder))
	gittest.Put(t, filepath.Join(w.Path, "a.up"), "Quiet\n")
	merges(t, Takeover{Worktree: ended(t, w, cwd), Into: folder})
	gittest.WantFile(t, filepath.Join(folder, "a.up"), "quiet\n")
	if in := gittest.GitIn(t, folder, "cat-file", "-p", "HEAD:a.up"); in != "QUIET" {
		t.Errorf("%q is committed", in)
	}
}
