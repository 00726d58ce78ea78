package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A worktree of a big repository takes long: meanwhile a terminal says so, and for how long.
func TestAWorktreeThatTakesLongIsSaidOnTheTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.committed()
	git, err := exec.LookPath("git")
	noError(t, err)
	slow := t.TempDir()
	gate := filepath.Join(slow, "gate")
	noError(t, syscall.Mkfifo(gate, 0o600))
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' worktree add '*) read _ < %s;; esac\nexec %s \"$@\"\n", gate, git)
	noError(t, os.WriteFile(filepath.Join(slow, "git"), []byte(script), 0o700))
	path := ""
	for _, v := range w.Env {
		if after, is := strings.CutPrefix(v, "PATH="); is {
			path = after
		}
	}
	s := w.sit([]string{"PATH=" + slow + ":" + path, "ACCESSIBLE="}, "run", "--worktree", "--each", "echo it",
		"Find {item}", "--demo", w.scenario(asksForItsFile))
	s.sees(`making the worktree of a-\w+ · 1s`)
	open, err := os.OpenFile(gate, os.O_WRONLY, 0)
	noError(t, err)
	if _, err := open.WriteString("continue\n"); err != nil {
		t.Fatal(err)
	}
	_ = open.Close()
	s.sees("Which file is it")
	s.sees("Enter sends") // the grace is over
	s.types("made.txt\r")
	s.sees("it is made.txt")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// committed makes the world's folder a repository with one commit.
func (w *world) committed() {
	w.t.Helper()
	for _, args := range [][]string{{"init", "--quiet"},
		{"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--allow-empty", "--message", "begin"}} {
		git := exec.Command("git", args...)
		git.Dir = w.Cwd
		if out, err := git.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}
