package e2e

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// A run that was lost comes back to the worker that lost it: the conversation that it had there, which has gone on
// elsewhere, is in nobody's way, and nothing is asked again.
func TestARunComesBackToTheWorkerThatLostIt(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	answered := func(run, id, text string) {
		q := &question{id: id, run: run, text: text, tries: []*try{{token: newToken(rng), outcome: acknowledged}}}
		l.questions[id] = q
		l.must("answer", id, q.tries[0].token)
	}
	one := l.worker("one")
	run := l.lays("--hold", "forever")
	first := l.asks(run, "one")
	one.signal(syscall.SIGSTOP)
	two := l.worker("two")
	answered(run, first, asked[0])
	second := l.until(run, "asking on again", func(r listed) bool {
		return r.Worker == "two" && len(r.Questions) == 1 && r.Questions[0].ID != first
	}).Questions[0].ID
	one.signal(syscall.SIGCONT)
	two.signal(syscall.SIGKILL)
	if back := l.asks(run, "one"); back != second {
		t.Errorf("it asks again: %s, and not %s", back, second)
	}
	answered(run, second, asked[1])
	third := l.until(run, "asking for the third time", func(r listed) bool {
		return len(r.Questions) == 1 && r.Questions[0].ID != second
	}).Questions[0].ID
	answered(run, third, asked[2])
	l.succeeds(run)
	l.check(map[string]listed{run: l.until(run, "listed", func(listed) bool { return true })})
	l.workerIn(two.home, "two") // it ends the agent that the kill has left
	nothingIsLeft(t, run)
}
