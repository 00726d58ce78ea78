package supervisor

import (
	"fmt"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/pace"
)

func TestAParentThatWaitsForItsChildHoldsNoSlot(t *testing.T) {
	for name, hold := range map[string]time.Duration{"held": conf.DefaultHold, "parked at once": 0} {
		t.Run(name, func(t *testing.T) {
			s := delegatedWork(t, func(c *conf.Config) { c.MaxParallel, c.Hold = 1, hold },
				signals.Field{Name: "new_task_description", Value: "Draw"},
				signals.Field{Name: "independence", Value: string(checkpoints.Blocks)})
			s.status(childOne, checkpoints.Queued)
			s.plansNot("launch " + childOne)
			s.turnEnds()
			if hold == 0 {
				s.Ends()
				s.Rests(true)
			}
			s.is(checkpoints.Blocked)
			s.plans("launch " + childOne)
		})
	}
}

func TestAParentThatAsksHoldsNoSlotAndGetsOneBackWhenItIsFree(t *testing.T) {
	s := delegatedWork(t, func(c *conf.Config) { c.MaxParallel, c.Hold = 1, 0 })
	s.Do(s.clarification("q-1", "Which database?"))
	s.turnEnds()
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Parked)
	s.plans("launch " + childOne)
	s.Answers("q-1", "SQLite")
	s.is(checkpoints.Queued)
	want := "is started again with your answer once a slot is free: 1 process may be at work"
	if got := s.State.Agents.Get(Root).Reason; got != want {
		t.Errorf("answered, it is queued because it %s; want: %s", got, want)
	}
	s.plansNot("launch " + Root)
	s.childReports("success")
	s.plans("launch " + Root + " 2")
}

func TestWithoutALimitEverybodyIsLaunchedAtOnce(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.AutoDelegations} })
	for i := range 20 {
		s.delegates(Root, fmt.Sprintf("a-child%07d", i), fmt.Sprintf("q-%d", i))
	}
	if n := s.State.working(); n != 21 {
		t.Errorf("%d processes are at work, want 21", n)
	}
}

func TestWhatIsStoppedWhileItWaitsForASlotIsNeverLaunched(t *testing.T) {
	s := delegatedWork(t, func(c *conf.Config) { c.MaxParallel = 1 })
	s.Notes(InboxEntry{Kind: EntryStop, Agent: childOne})
	s.status(childOne, checkpoints.Stopped)
	if a := s.State.Agents.Get(childOne); a.QueuedAt != nil || a.Launches > 0 {
		t.Errorf("it stands in the queue since %v, after %d launches", a.QueuedAt, a.Launches)
	}
}

func TestAClockThatJumpsMakesNobodyRiseOrFallForEver(t *testing.T) {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		waited time.Duration
		want   int
	}{
		"backwards":             {-26 * time.Hour, 2},
		"not at all":            {0, 2},
		"just under one age":    {pace.Age - 1, 2},
		"one age":               {pace.Age, 1},
		"as long as P0 is away": {2 * pace.Age, 0},
		"longer":                {3 * pace.Age, -1},
	} {
		t.Run(name, func(t *testing.T) {
			since := at.Add(-c.waited)
			if got := pace.Class(&Agent{Priority: "P2", QueuedAt: &since}, at); got != c.want {
				t.Errorf("class %d, want %d", got, c.want)
			}
		})
	}
}
