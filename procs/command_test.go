package procs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaudeIsFound(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	program := func(path string, mode os.FileMode) string {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
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
		{"never in the current folder", "mine", []string{path}, "", errNotFound},
		{"nowhere", "", nil, "", errNotFound},
		{"missing", "./missing", []string{path}, "", errNotFound},
		{"not executable", plain, []string{path}, "", errNotExecutable},
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
			if start := new(StartError); err != nil && !errors.As(err, &start) {
				t.Errorf("%T", err)
			}
		})
	}
}

func TestAProgramIsAskedForItsVersion(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part, want string
		err        error
	}{
		{"version", "2.1.329", nil},
		{"not claude", "", errNotClaude},
		{"no version", "", errNotClaude},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Setenv(partVariable, c.part)
			if got, err := Version(t.Context(), exe); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("that never answers", func(t *testing.T) {
		t.Setenv(partVariable, "stubborn silent")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Version(ctx, exe); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("that is not there", func(t *testing.T) {
		if _, err := Version(t.Context(), filepath.Join(t.TempDir(), "claude")); !errors.Is(err, errNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAProgramThatSpeaksNoProtocolIsNotClaude(t *testing.T) {
	r := start(t, spec(t, "no protocol"))
	e := next[Exit](r)
	if got := Classify(Result{}, &e); got.Kind != NotClaude || !strings.Contains(got.Reason, "usage: cat") {
		t.Errorf("got %+v", got)
	}
}

func TestAConversationIsBegunOrResumed(t *testing.T) {
	for resume, want := range map[bool]string{false: "--session-id S", true: "--resume S"} {
		if got := strings.Join(Spec{SessionID: "S", Resume: resume, Without: optional}.args(), " "); !strings.HasSuffix(got,
			"stdio "+want) {
			t.Errorf("resume %v: %s", resume, got)
		}
	}
}

func TestAMarkerIsOnAnEnvironmentOnlyAsAWhole(t *testing.T) {
	m := Marker{Run: "r-1", Agent: "a-1", Launch: 2}
	on := strings.Join(append([]string{"A=1"}, m.env()...), "\x00") + "\x00"
	if !m.on(on) {
		t.Error("it is not on its own")
	}
	for _, other := range []Marker{{"r-2", "a-1", 2}, {"r-1", "a-2", 2}, {"r-1", "a-1", 22}, {"r-1", "a-1", 1}} {
		if other.on(on) {
			t.Errorf("%v is on it", other)
		}
	}
	if m.on("X"+on[max(strings.Index(on, EnvRun), 0):]) || m.on("") {
		t.Error("it is on an environment that only looks alike")
	}
}

func TestWhatMacOSTellsOfAProcessIsTakenApart(t *testing.T) {
	args, env := splitProcArgs([]byte("\x02\x00\x00\x00/bin/sh\x00\x00\x00\x00sh\x00-c\x00A=1\x00B=2\x00"))
	if strings.Join(args, " ") != "sh -c" || env != "A=1\x00B=2\x00" {
		t.Errorf("got %q, %q", args, env)
	}
}

func FuzzSplitProcArgs(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00/bin/sh\x00\x00sh\x00-c\x00A=1\x00"))
	f.Add([]byte("\xff\xff\xff\xff/bin/sh\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		args, env := splitProcArgs(data)
		total := len(env)
		for _, arg := range args {
			total += len(arg)
		}
		if total > len(data) {
			t.Errorf("%d bytes out of %d", total, len(data))
		}
	})
}
