package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// answersHere answers a question on the machine of a worker, in the state of its run.
func (p *process) answersHere(t *testing.T, s *site, run, question, value string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.programs, "claude-supervise"), "answer", question, value)
	cmd.Env = append(s.env(p.home), "XDG_STATE_HOME="+filepath.Join(p.runsOf(), run+".1", "state"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("an answer on the worker's machine: %v: %s", err, out)
	}
}

// lost waits until a run has been taken from the worker that had its first epoch.
func (s *site) lost(run string) {
	s.t.Helper()
	s.until(run, "lost", func(l listed) bool { return strings.Contains(strings.Join(l.Notes, "\n"), "was not heard from") })
}

// keepsNoAnswer waits until a worker has handed in what was answered on its machine.
func (p *process) keepsNoAnswer(t *testing.T) {
	t.Helper()
	var kept []string
	var err error
	if !comes(func() bool {
		kept, err = filepath.Glob(filepath.Join(filepath.Dir(p.runsOf()), "answers", "*"))
		return err == nil && len(kept) == 0
	}) {
		t.Errorf("it keeps %q: %v", kept, err)
	}
}

// While a worker is cut off, it prints what its runs ask. What is answered there is not delivered there, and counts once
// the worker can say so.
func TestAnAnswerOnAWorkerThatIsCutOffCountsLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := s.network()
	one := s.worker("one", "--address", n.address)
	run := s.asking()
	q := s.asks(run, "one")
	n.cuts()
	one.says(t, "and a run asks")
	one.says(t, q)
	one.answersHere(t, s, run, q, "JWT")
	s.worker("two") // else nobody decides
	s.lost(run)
	one.wroteNothing(t, run)
	n.mends()
	s.succeeds(run)
	one.says(t, "an answer that was given here counts")
	nothingIsLeft(t, run)
	one.hasNoRun(t)
	one.keepsNoAnswer(t)
	if shown := s.must("show", run); !strings.Contains(shown, "JWT") || !strings.Contains(shown, "on worker one") {
		t.Errorf("it is not shown who has answered what: %s", shown)
	}
}

// A worker that dies cut off has the answers that were given there when it is started again. Whoever was later is told.
func TestAnAnswerOnAWorkerThatDiesCutOffIsToldThatItWasLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := s.network()
	one := s.worker("one", "--address", n.address)
	run := s.asking()
	q := s.asks(run, "one")
	n.cuts()
	one.says(t, "and a run asks")
	one.answersHere(t, s, run, q, "Sessions")
	one.signal(syscall.SIGKILL)
	s.worker("two") // else nobody decides
	s.must("answer", q, "JWT")
	s.succeeds(run)
	n.mends()
	back := s.workerIn(one.home, "one")
	back.says(t, "another was given before")
	back.says(t, "answer=Sessions")
	back.says(t, "first=JWT")
	nothingIsLeft(t, run)
	back.hasNoRun(t)
	back.keepsNoAnswer(t)
}

// A worker that dies before its run was saved with an answer that was given there hands it in when it is started again.
func TestAnAnswerOnAWorkerThatDiesCountsWhenTheWorkerIsBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := s.network()
	one := s.worker("one", "--address", n.address)
	run := s.asking()
	q := s.asks(run, "one")
	n.cuts()
	one.says(t, "and a run asks")
	one.answersHere(t, s, run, q, "JWT")
	one.signal(syscall.SIGKILL)
	two := s.worker("two")
	s.until(run, "parked elsewhere", func(l listed) bool {
		return l.Status == "parked" && len(l.Questions) == 1 && l.Questions[0].ID == q
	})
	n.mends()
	back := s.workerIn(one.home, "one")
	back.says(t, "an answer that was given here counts")
	s.succeeds(run)
	two.leaves(t)
	nothingIsLeft(t, run)
}
