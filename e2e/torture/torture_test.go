// Package torture tests the program by killing it: scripted days of runs that ask, are parked, answered by three people
// at once and stopped, while supervisors, agents and answering clients are killed with SIGKILL at random moments. A
// ledger that is kept outside of the program (ledger_test.go) is held against what the agents' conversations show at
// the end of the day: every answer that was acknowledged has reached its agent exactly once, and no other has.
//
// make torture runs it; the seed makes the days and the plan of the kills. What the machine makes of them differs from
// run to run: a failure keeps its folder, and prints the history and the conversation of the run.
//
//	CLAUDE_SUPERVISE_TEST_KILLS=300    how many kills; 50 in a short run
//	CLAUDE_SUPERVISE_TEST_SEED=1       which days
//	CLAUDE_SUPERVISE_TEST_AGENT=real   the real CLI in place of the stand-in
package torture

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/sample"
)

// The programs under test: claude-supervise, and the wrapper that takes claude's place.
var program, agentWrapper string

func TestMain(m *testing.M) {
	os.Exit(machine.Main(m, func(dir string) error {
		program, agentWrapper = filepath.Join(dir, "claude-supervise"), filepath.Join(dir, "wrapper")
		// Never with the race detector: what is tested here is what happens when it dies, and the more often the better.
		return machine.Build(dir, nil, "cmd/claude-supervise", "e2e/torture/wrapper")
	}))
}

// dayLength bounds a day: one that takes so long does not end. An agent that was killed five times in one turn rests
// for four minutes.
const dayLength = 15 * time.Minute

// At most so many runs make a day; few kills make a short one.
const (
	runsOfADay     = 24
	killsOfARun    = 4 // about: what a day is planned by
	runsAtOnce     = 8
	runsOfRealLife = 3
)

func TestEveryAcknowledgedAnswerIsDeliveredOnceWhateverIsKilled(t *testing.T) {
	few := 300
	if testing.Short() {
		few = 30
	}
	total := sample.Number(t, "CLAUDE_SUPERVISE_TEST_KILLS", few)
	seed := uint64(sample.Number(t, "CLAUDE_SUPERVISE_TEST_SEED", 1))
	real := os.Getenv("CLAUDE_SUPERVISE_TEST_AGENT") == "real"
	t.Logf("seed %d, %d kills", seed, total)
	all, began := newTotals(total), time.Now()
	defer func() { t.Logf("seed %d: %s", seed, all.in(time.Since(began))) }()
	for n := 1; all.left() > 0; n++ {
		size := min(runsOfADay, total/killsOfARun+1)
		if real {
			size = runsOfRealLife
		}
		ctx, cancel := context.WithTimeout(t.Context(), dayLength)
		d := newDay(t, seed, n, all, real)
		d.live(ctx, size)
		cancel()
		d.check()
		if t.Failed() {
			t.Fatalf("day %d of seed %d went wrong; all of it is kept in %s", n, seed, d.dir)
		}
		d.forget()
		t.Logf("day %d of seed %d went well; %d kills are left", n, seed, all.left())
	}
}
