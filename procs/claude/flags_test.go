package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/procs/internal/childtest"
)

func TestClaudeIsFound(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	program := func(path string, mode os.FileMode) string {
		noError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), mode))
		return path
	}
	inPath := program(filepath.Join(dir, "claude"), 0o700)
	mine := program(filepath.Join(other, "mine"), 0o700)
	plain := program(filepath.Join(other, "plain"), 0o600)
	t.Chdir(other)
	path := "PATH=" + strings.Join([]string{"", ".", "/no/such/folder", dir}, string(filepath.ListSeparator))
	for _, c := range []struct {
		name, explicit string
		env            []string
		want           string
		err            error
	}{
		{"in $PATH", "", []string{path}, inPath, nil},
		{"by a path", mine, []string{path}, mine, nil},
		{"by a relative path", "./mine", []string{path}, mine, nil},
		{"by the variable", "", []string{path, envClaude + "=" + mine}, mine, nil},
		{"the flag before the variable", inPath, []string{envClaude + "=" + mine}, inPath, nil},
		{"never in the current folder", "mine", []string{path}, "", procs.ErrNotFound},
		{"nowhere", "", nil, "", procs.ErrNotFound},
		{"missing", "./missing", []string{path}, "", procs.ErrNotFound},
		{"not executable", plain, []string{path}, "", procs.ErrNotExecutable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env == nil {
				c.env = []string{}
			}
			got, err := Find(c.explicit, c.env)
			if want, _ := filepath.EvalSymlinks(c.want); c.want != "" && want != "" {
				got, _ = filepath.EvalSymlinks(got)
				c.want = want
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q, %v", got, err)
			}
			if start := new(procs.StartError); err != nil && !errors.As(err, &start) {
				t.Errorf("%T", err)
			}
		})
	}
}

func TestAProgramIsAskedForItsVersion(t *testing.T) {
	exe, err := os.Executable()
	noError(t, err)
	for _, c := range []struct {
		part, want string
		err        error
	}{
		{"version", "2.1.329", nil},
		{"not claude", "", errNotClaude},
		{"no version", "", errNotClaude},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Setenv(childtest.PartVariable, c.part)
			if got, err := Version(t.Context(), exe); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("that never answers", func(t *testing.T) {
		t.Setenv(childtest.PartVariable, "stubborn silent")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Version(ctx, exe); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("that is not there", func(t *testing.T) {
		if _, err := Version(t.Context(), filepath.Join(t.TempDir(), "claude")); !errors.Is(err, procs.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAProgramThatSpeaksNoProtocolIsNotClaude(t *testing.T) {
	r := start(t, spec(t, "no protocol"))
	e := next[procs.Exit](r)
	if got := Classify(procs.Result{}, &e); got.Kind != procs.NotClaude || !strings.Contains(got.Reason, "usage: cat") {
		t.Errorf("got %+v", got)
	}
}

func TestAConversationIsBegunOrResumed(t *testing.T) {
	for resume, want := range map[bool]string{false: "--session-id S", true: "--resume S"} {
		if got := strings.Join(launch{SessionID: "S", Resume: resume, Without: optional}.args(), " "); !strings.HasSuffix(got,
			"stdio "+want) {
			t.Errorf("resume %v: %s", resume, got)
		}
	}
}
