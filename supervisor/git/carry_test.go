package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/supervisor/internal/gittest"
)

// twoTrees makes a work tree with a moment of it, not all of which is committed, and another one with the files of that
// moment.
func twoTrees(t *testing.T, git bool) Carry {
	t.Helper()
	dir := t.TempDir()
	c := Carry{Folder: filepath.Join(dir, "carry"), Since: &Store{Folder: filepath.Join(dir, "moments"), Limit: roomy},
		Into: filepath.Join(dir, "mine"), From: filepath.Join(dir, "fork")}
	lines := strings.Repeat("line\n", 20)
	for name, text := range map[string]string{"both": "first\n" + lines + "last\n", "theirs": "one\n", "gone": "one\n",
		"sub/moved": "one\n", "run": "#!/bin/sh\n", "dir/a": "one\n"} {
		gittest.Put(t, filepath.Join(c.Into, name), text)
	}
	if git {
		gittest.InRepository(t, c.Into)
		gittest.Put(t, filepath.Join(c.Into, ".gitignore"), "ignored\n")
		gittest.Committed(t, c.Into, "begin")
		gittest.Put(t, filepath.Join(c.Into, "ignored"), "mine")
	}
	gittest.Put(t, filepath.Join(c.Into, "theirs"), "not committed\n")
	var err error
	if c.Moment, err = c.Since.Take(t.Context(), c.Into); err != nil {
		t.Fatal(err)
	}
	if git {
		gittest.GitIn(t, c.Into, "worktree", "add", "--quiet", "--no-checkout", "-b", "fork", c.From)
		err = c.Since.Fill(t.Context(), c.Moment, c.From)
		gittest.GitIn(t, c.From, "read-tree", "HEAD")
	} else {
		err = c.Since.Checkout(t.Context(), c.Moment, c.From)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bothWork has something done in both trees.
func bothWork(t *testing.T, c Carry, git bool) {
	t.Helper()
	lines := strings.Repeat("line\n", 20)
	gittest.Put(t, filepath.Join(c.Into, "both"), "first of mine\n"+lines+"last\n")
	gittest.Put(t, filepath.Join(c.Into, "new of mine"), "mine\n")
	gittest.Put(t, filepath.Join(c.From, "both"), "first\n"+lines+"last of the fork\n")
	gittest.Put(t, filepath.Join(c.From, "theirs"), "of the fork\n")
	gittest.Put(t, filepath.Join(c.From, "new/deep"), "of the fork\n")
	err := errors.Join(os.Remove(filepath.Join(c.From, "gone")), os.RemoveAll(filepath.Join(c.From, "dir")),
		os.Chmod(filepath.Join(c.From, "run"), 0o700), os.Symlink("both", filepath.Join(c.From, "link")))
	gittest.Put(t, filepath.Join(c.From, "dir"), "now a file\n")
	if git {
		gittest.Committed(t, c.From, "half of it")
		gittest.Put(t, filepath.Join(c.Into, "staged"), "added\n")
		gittest.GitIn(t, c.Into, "add", "staged")
		gittest.Put(t, filepath.Join(c.Into, "staged"), "added, and changed\n")
	}
	gittest.Put(t, filepath.Join(c.From, "sub/moved"), "of the fork\n")
	if err != nil {
		t.Fatal(err)
	}
}

// allIn returns the files of a folder, each with what it holds.
func allIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, outside := filepath.Rel(folder, path)
		switch {
		case err != nil || outside != nil:
			return errors.Join(err, outside)
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git":
			return nil
		}
		info, err := d.Info()
		if err == nil && d.Type() == fs.ModeSymlink {
			all[name], err = os.Readlink(path)
			return err
		}
		text, failed := os.ReadFile(path)
		all[name] = fmt.Sprint(info.Mode()&0o100, string(text))
		return errors.Join(err, failed)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is %q, not %q", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, is := want[name]; !is {
			t.Errorf("there is %s", name)
		}
	}
}

// gitsView is all that git has of a work tree beside its files.
func gitsView(t *testing.T, folder string) string {
	t.Helper()
	return gittest.GitIn(t, folder, "rev-parse", "HEAD") + gittest.GitIn(t, folder, "symbolic-ref", "HEAD") +
		gittest.GitIn(t, folder, "ls-files", "--stage") + gittest.GitIn(t, folder, "for-each-ref")
}

func TestWhatAWorkTreeHasIsCarriedIntoAnother(t *testing.T) {
	for _, git := range []bool{true, false} {
		t.Run(fmt.Sprintf("git=%v", git), func(t *testing.T) {
			c := twoTrees(t, git)
			bothWork(t, c, git)
			before, fork := allIn(t, c.Into), allIn(t, c.From)
			seen := ""
			if git {
				seen = gitsView(t, c.Into)
			}
			look, err := c.Look(t.Context())
			if err != nil || strings.Join(look.Put, " ") != "both dir link new/deep run sub/moved theirs" ||
				strings.Join(look.Drop, " ") != "dir/a gone" {
				t.Fatalf("it would do %+v, %v", look, err)
			}
			wantFiles(t, allIn(t, c.Into), before)
			if done, err := c.Do(t.Context()); err != nil || len(done.Put) != 7 || len(done.Drop) != 2 {
				t.Fatalf("it has done %+v, %v", done, err)
			}
			want := before
			for _, name := range []string{"theirs", "sub/moved", "new/deep", "link", "run", "dir"} {
				want[name] = fork[name]
			}
			delete(want, "gone")
			delete(want, "dir/a")
			want["both"] = "----------first of mine\n" + strings.Repeat("line\n", 20) + "last of the fork\n"
			wantFiles(t, allIn(t, c.Into), want)
			wantFiles(t, allIn(t, c.From), fork)
			if git && gitsView(t, c.Into) != seen {
				t.Errorf("git has %s\nbefore it had %s", gitsView(t, c.Into), seen)
			}
			if done, err := c.Do(t.Context()); err != nil || len(done.Put)+len(done.Drop) != 0 {
				t.Errorf("done again it does %+v, %v", done, err)
			}
			// The person goes on with what was carried: carried again, it has no conflict with that.
			gittest.Put(t, filepath.Join(c.Into, "theirs"), "mended by me\n")
			if done, err := c.Do(t.Context()); err != nil || len(done.Put)+len(done.Drop) != 0 {
				t.Errorf("once the person has gone on it does %+v, %v", done, err)
			}
			gittest.WantFile(t, filepath.Join(c.Into, "theirs"), "mended by me\n")
		})
	}
}

func TestACarryThatDoesNotFitChangesNothing(t *testing.T) {
	for want, change := range map[string]func(t *testing.T, c Carry){
		"theirs (both have changed it)": func(t *testing.T, c Carry) {
			gittest.Put(t, filepath.Join(c.Into, "theirs"), "mine\n")
		},
		"sub/moved (both have changed it)": func(t *testing.T, c Carry) {
			if err := os.Remove(filepath.Join(c.Into, "sub/moved")); err != nil {
				t.Fatal(err)
			}
		},
		"ignored (one that git ignores is there)": func(t *testing.T, c Carry) {
			gittest.Put(t, filepath.Join(c.From, "ignored"), "of the fork\n")
			gittest.GitIn(t, c.From, "add", "--force", "ignored")
		},
		"dir (a folder with files in it)": func(t *testing.T, c Carry) {
			gittest.Put(t, filepath.Join(c.Into, "dir/ignored"), "mine\n")
		},
		"new/deep (new is no folder)": func(t *testing.T, c Carry) {
			gittest.Put(t, filepath.Join(c.Into, ".git/info/exclude"), "new\n")
			gittest.Put(t, filepath.Join(c.Into, "new"), "mine\n")
		},
		"a merge is under way": func(t *testing.T, c Carry) {
			gittest.GitIn(t, c.Into, "checkout", "--quiet", "-b", "other", "--force")
			gittest.Put(t, filepath.Join(c.Into, "gone"), "two\n")
			gittest.Committed(t, c.Into, "two")
			gittest.GitIn(t, c.Into, "checkout", "--quiet", "topic")
			gittest.Put(t, filepath.Join(c.Into, "gone"), "three\n")
			gittest.Committed(t, c.Into, "three")
			_ = exec.Command("git", "-C", c.Into, "-c", "user.name=a", "-c", "user.email=a@localhost", "merge", "other").Run()
		},
	} {
		t.Run(want, func(t *testing.T) {
			c := twoTrees(t, true)
			bothWork(t, c, true)
			change(t, c)
			before, seen := allIn(t, c.Into), gitsView(t, c.Into)
			for _, do := range []func(context.Context) (Carried, error){c.Look, c.Do} {
				if done, err := do(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("it has done %+v: %v", done, err)
				}
			}
			wantFiles(t, allIn(t, c.Into), before)
			if gitsView(t, c.Into) != seen {
				t.Error("git has something else")
			}
		})
	}
}

const carriesUntil = "CLAUDE_SUPERVISE_TEST_CARRIES"

// carriesAndDies carries in the place of tests, and kills itself at a point.
func carriesAndDies(how string) {
	var c Carry
	var at int
	parts := strings.Split(how, "\n")
	c.Folder, c.Since = parts[0], &Store{Folder: parts[1], Limit: roomy}
	c.Moment, c.From, c.Into = parts[2], parts[3], parts[4]
	if _, err := fmt.Sscan(parts[5], &at); err != nil {
		panic(err)
	}
	c.at = func() {
		if at--; at < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if _, err := c.Do(context.Background()); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// Who is killed while it carries leaves what was, or something of which the next one makes what is to be. What a
// person does in between stays.
func TestACarryIsCompletedWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	whole := twoTrees(t, true)
	bothWork(t, whole, true)
	if _, err := whole.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := allIn(t, whole.Into)
	for at := 0; ; at++ {
		c := twoTrees(t, true)
		bothWork(t, c, true)
		seen := gitsView(t, c.Into)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), carriesUntil+"="+strings.Join([]string{c.Folder, c.Since.Folder, c.Moment,
			c.From, c.Into, fmt.Sprint(at)}, "\n"))
		out, err := cmd.CombinedOutput()
		if err == nil {
			if at < 10 {
				t.Fatalf("it has only %d points", at)
			}
			return
		} else if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("it ended by itself: %v\n%s", err, out)
		}
		gittest.Put(t, filepath.Join(c.Into, "meanwhile"), "mine\n")
		if _, err := c.Look(t.Context()); err != nil {
			t.Errorf("killed at %d: it is not to be looked at: %v", at, err)
		}
		if _, err := c.Do(t.Context()); err != nil {
			t.Fatalf("killed at %d: %v", at, err)
		}
		got := allIn(t, c.Into)
		if got["meanwhile"] == "" {
			t.Errorf("killed at %d: what the person did is gone", at)
		}
		delete(got, "meanwhile")
		wantFiles(t, got, want)
		if gitsView(t, c.Into) != seen {
			t.Errorf("killed at %d: git has something else", at)
		}
	}
}
