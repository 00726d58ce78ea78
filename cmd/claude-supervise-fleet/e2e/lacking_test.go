package e2e

import (
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
