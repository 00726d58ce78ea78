package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A worker without claude is one of several, and must end none of the runs that others can do: they wait, and say why.
func TestARunWaitsForAWorkerThatHasClaude(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	able, lacking := l.more, t.TempDir()
	l.more = func(home string) []string {
		if home == lacking {
			return []string{"CLAUDE_SUPERVISE_CLAUDE=" + filepath.Join(home, "claude")}
		}
		return able(home)
	}
	bare := l.workerIn(lacking, "bare")
	bare.says(t, "can play demos only")
	run := l.lays("--hold", "forever")
	r := l.until(run, "waiting for claude", func(r listed) bool { return strings.Contains(r.Reason, "worker bare has no claude") })
	if r.ExitCode != nil || !strings.Contains(r.Reason, "it is tried again in") || !strings.Contains(r.Reason, "Install claude") {
		t.Errorf("it is %+v", r)
	}
	demo := l.asking()
	l.asks(demo, "bare") // which needs none
	l.worker("able")
	l.must("resume", run) // nobody waits until it is tried again
	l.until(run, "asking on able", func(r listed) bool { return r.Worker == "able" && len(r.Questions) == 1 })
	l.must("stop", run, demo)
}

// The program of --exec and its variables are those of the worker, not of whoever submits the task.
func TestTheProgramOfExecIsTheWorkers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "agent"), []byte("#!/bin/sh\necho I did it\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	one := s.workerIn(home, "one")
	has := s.must("run", "--exec", `"$HOME/agent" {}`, "it")
	s.until(has, "ended", func(l listed) bool { return l.ExitCode != nil })
	if said := s.must("logs", has); !strings.Contains(said, "I did it") {
		t.Errorf("the worker's program has not run: %s", said)
	}
	lacks := s.must("run", "--exec", `"$HOME/other" {}`, "it")
	l := s.until(lacks, "waiting for its program", func(l listed) bool {
		return strings.Contains(l.Reason, "worker one cannot run --exec")
	})
	if l.ExitCode != nil || !strings.Contains(l.Reason, "no such file") || !strings.Contains(l.Reason, "it is tried again in") {
		t.Errorf("without the program it is %s: %s", l.Status, l.Reason)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "other"), []byte("#!/bin/sh\necho I did it there\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.workerIn(other, "two")
	one.leaves(t)
	s.must("resume", lacks) // nobody waits until it is tried again
	s.until(lacks, "ended", func(l listed) bool { return l.ExitCode != nil })
	if said := s.must("logs", lacks); !strings.Contains(said, "I did it there") {
		t.Errorf("the other worker's program has not run: %s", said)
	}
	if code, _, said := s.says("run", "--exec", `agent "open`, "it"); code != 2 || !strings.Contains(said, "cannot be split") {
		t.Errorf("what is no command exits %d: %s", code, said)
	}
}

// Without git, and where its folder cannot be written to, a worker does not start: it would take runs and give them back.
func TestAWorkerDoesNotStartWithoutWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	folder := s.file("file", nil)
	for name, c := range map[string]struct {
		path, says string
		flags      []string
	}{
		"git":    {path: s.programs, says: "git is needed"},
		"folder": {path: s.programs + ":/usr/bin:/bin", says: "the worker's folder cannot be made", flags: []string{"--dir", folder}},
		"store":  {path: s.programs + ":/usr/bin:/bin", says: "blob store", flags: []string{"--store", "file://" + folder}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(s.programs, "claude-supervise-fleet"),
				s.workerArgs("lacking", c.flags...)...)
			cmd.Env, cmd.Dir = append(s.env(t.TempDir()), "PATH="+c.path), s.home
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) || strings.Contains(string(out), takesRuns) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
