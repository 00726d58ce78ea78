package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// A worker that cannot reach the server has lost its run when the lease is over. It delivers nothing meanwhile, and ends
// its agents when it hears of that.
func TestAWorkerThatIsCutOffDeliversNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := s.network()
	one := s.worker("one", "--address", n.address)
	run := s.asking()
	q := s.asks(run, "one")
	n.cuts()
	s.worker("two")
	s.must("answer", q, "JWT")
	s.succeeds(run)
	one.wroteNothing(t, run)
	n.mends()
	nothingIsLeft(t, run)
	one.hasNoRun(t)
}

// wroteNothing checks that the agent of a run has not gone on by its answer in the first epoch.
func (p *process) wroteNothing(t *testing.T, run string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(p.work(run, "1"), "auth.txt")); !os.IsNotExist(err) {
		t.Errorf("its agent went on: %v", err)
	}
}

// hasNoRun waits until a worker has removed the folders of all runs.
func (p *process) hasNoRun(t *testing.T) {
	t.Helper()
	var left []os.DirEntry
	var err error
	if !comes(func() bool { left, err = os.ReadDir(p.runsOf()); return err == nil && len(left) == 0 }) {
		t.Errorf("it keeps %v: %v", left, err)
	}
}
