package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
)

// remark is a line that `logs --json` prints.
type remark struct{ Time, Agent, Type, Text, Question string }

func remarks(t *testing.T, printed string) (all []remark) {
	t.Helper()
	for line := range strings.Lines(printed) {
		var r remark
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

// follows begins to follow a log, as a person does in a terminal of their own.
func (s *site) follows(args ...string) *process {
	s.t.Helper()
	p := &process{cmd: exec.Command(filepath.Join(s.programs, "claude-supervise-fleet"), append([]string{"logs", "-f"},
		args...)...), said: &machine.Output{}, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Dir = s.env(s.home), p.said, s.home
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	s.t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

func TestALogIsFollowedToTheNextWorkerAndTheEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.worker("one")
	run := s.asking()
	whole, added := s.follows("--json", run), s.follows("--json", "--tail", "0", run)
	q := s.asks(run, "one")
	const first = "I look at what there is first."
	whole.says(t, first)
	held := remarks(t, s.reads("logs", "--json", run)) // of a run that a worker has
	if len(held) == 0 || held[0].Text != first {
		t.Errorf("its log is %+v", held)
	}
	if last := remarks(t, s.reads("logs", "--json", "--tail", "1", run)); !slices.Equal(last, held[len(held)-1:]) {
		t.Errorf("its end is %+v, and not that of %+v", last, held)
	}
	one.signal(syscall.SIGKILL)
	s.worker("two")
	s.must("answer", q, "JWT")
	s.succeeds(run)
	<-whole.done
	<-added.done
	kept := remarks(t, s.must("logs", "--json", run))
	followed := remarks(t, whole.said.String())
	// What the killed worker has done after its last snapshot is in no later log, and was followed all the same.
	for _, r := range kept {
		if !slices.Contains(followed, r) {
			t.Errorf("%+v was not followed: %+v", r, followed)
		}
	}
	for _, r := range held {
		n := 0
		for _, f := range followed {
			if f == r {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%+v is printed %d times", r, n)
		}
	}
	if last := remarks(t, added.said.String()); len(last) == 0 || last[len(last)-1] != kept[len(kept)-1] {
		t.Errorf("what was added ends with %+v, and the log with %+v", last, kept)
	}
	words := s.must("logs", run)
	if strings.Count(words, first) != 1 || !strings.Contains(words, "["+q+"] answered by ") {
		t.Errorf("in words it is\n%s", words)
	}
	s.workerIn(one.home, "one") // it ends the agent that the kill has left
	nothingIsLeft(t, run)
}
