package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"claude-supervise/e2e/sample"
)

// A fleet is upgraded: its workers are of an older build, and one after the other leaves and comes back as this one
// while runs ask and are answered. Until the last has, both builds decide what the same runs do, and take them from each
// other. Every run ends once, and every answer is delivered once.
//
//	CLAUDE_SUPERVISE_TEST_OLDER=FOLDER    the older programs (make fleet-upgrade); unset: this build is upgraded by itself
//	CLAUDE_SUPERVISE_TEST_RUNS=6          how many runs
func TestAFleetIsUpgradedWhileItsRunsGoOn(t *testing.T) {
	t.Parallel()
	l := newLedger(t, sample.Number(t, "CLAUDE_SUPERVISE_TEST_SEED", 1))
	runs := sample.Number(t, "CLAUDE_SUPERVISE_TEST_RUNS", 6)
	older := *l.site
	if folder := os.Getenv("CLAUDE_SUPERVISE_TEST_OLDER"); folder != "" {
		older.programs = folder
		l.opensWhatIsNotBound()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(runs)*5*time.Second)
	defer cancel()
	var workers []*process
	for i := range 3 {
		workers = append(workers, older.worker(fmt.Sprintf("w%d", i+1), "--capacity", "4"))
	}
	asks, enough := context.WithCancel(ctx)
	defer enough()
	answered := make(chan struct{})
	go func() { defer close(answered); l.answers(asks) }()
	lays := func(n int) {
		for range n {
			l.lays("--hold", holds[len(l.ids)%len(holds)])
		}
	}
	lays(runs - runs/2)
	for i, w := range workers {
		l.untilAnswered(ctx, i+1)
		w.leaves(t)
		workers[i] = l.workerIn(w.home, fmt.Sprintf("w%d", i+1), "--capacity", "4")
		if i == 1 {
			lays(runs / 2)
		}
	}
	ended := l.ended(ctx)
	enough()
	<-answered
	for i, w := range workers {
		l.leaves(&struck{name: fmt.Sprintf("w%d", i+1), p: w})
	}
	t.Logf("%d runs, %d questions, %d answers delivered while three workers were replaced", len(l.ids), len(l.questions),
		l.check(ended))
}

// opensWhatIsNotBound gives the fleet a key of before builds said what a payload is for.
func (s *site) opensWhatIsNotBound() {
	s.t.Helper()
	file := s.server().Key
	key, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(key, []byte("# only-bound\n"), nil), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// untilAnswered waits until so many answers were acknowledged.
func (p *people) untilAnswered(ctx context.Context, n int) {
	p.t.Helper()
	for {
		p.mu.Lock()
		answered := 0
		for _, q := range p.questions {
			if q.winner() != "" {
				answered++
			}
		}
		p.mu.Unlock()
		if answered >= n {
			return
		}
		if !pause(ctx, 100*time.Millisecond) {
			p.t.Fatalf("%d of %d answers were acknowledged", answered, n)
		}
	}
}
