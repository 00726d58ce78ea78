package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// Who answers has the key, and decides where no worker does.
func TestAnAnswerIsKeptWhereNoWorkerIsUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.worker("one")
	parks := func() (run, question string) {
		run = s.must("run", "--demo", "ask", "--hold", "0")
		l := s.until(run, "parked", listed.parked)
		return run, l.Questions[0].ID
	}
	run, q := parks()
	stopped, _ := parks()
	one.leaves(t)
	if said := s.must("answer", q, "JWT"); !strings.Contains(said, "It is kept") {
		t.Errorf("it says %s", said)
	}
	if code, _, said := s.says("answer", q, "Sessions"); code != 1 || !strings.Contains(said, "JWT") {
		t.Errorf("a second answer exits %d: %s", code, said)
	}
	s.must("stop", stopped)
	s.ends(stopped, 5)
	s.worker("two")
	s.succeeds(run)
}

// A worker that stands still has its lease, and an answer does not wait for the end of that.
func TestAnAnswerToARunWhoseWorkerStandsStillIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.worker("one")
	run := s.must("run", "--demo", "ask", "--lease", "10m", "--hold", "forever")
	q := s.asks(run, "one")
	one.signal(syscall.SIGSTOP)
	if said := s.must("answer", q, "JWT"); !strings.Contains(said, "It is kept") {
		t.Errorf("it says %s", said)
	}
	one.signal(syscall.SIGCONT)
	s.succeeds(run)
}

// A run that its worker has handed back waits for another with a question that is held, and is answered meanwhile.
func TestAnAnswerToARunThatWaitsForAWorkerIsGivenToThat(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, run, q := s.holds()
	one.leaves(t)
	if said := s.must("answer", q, "JWT"); !strings.Contains(said, "It is kept") {
		t.Errorf("it says %s", said)
	}
	s.worker("two")
	s.succeeds(run)
}
