package supervisor

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/pace"
	"claude-supervise/supervisor/task"
)

var hitLimit = procs.Failure{Kind: procs.Limit, Reason: "You've hit your limit · resets 3am"}

func (s *Story) limitedUntil() time.Time {
	s.T.Helper()
	s.is(checkpoints.Limited)
	a := s.State.Agents.Get(Root)
	if a.NotBefore == nil {
		s.T.Fatal("it rests without end")
	}
	return *a.NotBefore
}

// rejects plays a request that meets the limit, up to the end of its process.
func (s *Story) rejects(launch int, resets *time.Time) {
	s.T.Helper()
	s.Do(TurnEnded{Agent: Root, Launch: launch, Failure: hitLimit, Resets: resets})
	s.Do(Ended{Agent: Root, Launch: launch, Outcome: "exit 1"})
	s.Rests(true)
}

func TestAnAgentRestsUntilTheUsageLimitEndsAndGoesOnByItself(t *testing.T) {
	s := Begin(t, nil)
	resets := s.At.Add(5 * time.Hour)
	s.rejects(1, &resets)
	if got := s.limitedUntil(); !got.Equal(resets) {
		t.Errorf("it rests until %v, and the limit ends at %v", got, resets)
	}
	if a := s.State.Agents.Get(Root); a.Failures != 0 {
		t.Errorf("it counts as %d failures", a.Failures)
	}
	s.plans("retry " + Root)
	s.Do(RetryDue{Agent: Root, Until: resets})
	s.Launches(2)
	s.turnEnds()
	if a := s.State.Agents.Get(Root); a.Rejected != 0 || a.LimitedBy != "" {
		t.Errorf("it is still counted as rejected: %+v", a)
	}
}

func TestTheRestOutlivesItsSupervisor(t *testing.T) {
	s := Begin(t, nil)
	resets := s.At.Add(5 * time.Hour)
	s.rejects(1, &resets)
	s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true})
	if got := s.limitedUntil(); !got.Equal(resets) {
		t.Errorf("after a restart it rests until %v", got)
	}
	s.plans("retry " + Root)
	s.plansNot("launch")
}

func TestALimitThatNobodyKnowsTheEndOfIsTriedMoreAndMoreSeldom(t *testing.T) {
	s := Begin(t, nil)
	for n, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
		16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		s.Do(TurnEnded{Agent: Root, Launch: n + 1, Failure: hitLimit})
		rejected := s.At
		s.Do(Ended{Agent: Root, Launch: n + 1})
		s.Rests(true)
		until := s.limitedUntil()
		if got := until.Sub(rejected); got != want {
			t.Errorf("after rejection %d it rests %v, want %v", n+1, got, want)
		}
		s.At = until
		s.Do(RetryDue{Agent: Root})
		s.State.Launches.Get(Root)[n+1].Begun = true
		s.Do(Started{Agent: Root, Launch: n + 2, PID: 1})
		s.Delivers(n + 2)
		s.Do(TurnBegun{Agent: Root, Launch: n + 2})
	}
}

func TestWhatClaudeSaysOfTheEndOfALimitIsNotTakenForMoreThanItCanBe(t *testing.T) {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	when := func(d time.Duration) *time.Time { t := at.Add(d); return &t }
	for name, c := range map[string]struct {
		n      int
		resets *time.Time
		want   time.Duration
	}{
		"known":                             {1, when(3 * time.Hour), 3 * time.Hour},
		"unknown":                           {1, nil, time.Minute},
		"over already":                      {1, when(-time.Hour), time.Minute},
		"now":                               {1, when(0), time.Minute},
		"said again, at once":               {2, when(time.Second), time.Minute},
		"said a third time":                 {3, when(time.Second), 2 * time.Minute},
		"said again, of a limit that lasts": {2, when(3 * time.Hour), 3 * time.Hour},
		"in a hundred years":                {1, when(100 * 365 * 24 * time.Hour), pace.MaxLimit},
		"very often":                        {1000, nil, time.Hour},
	} {
		if got := pace.RestUntil(c.n, c.resets, at).Sub(at); got != c.want {
			t.Errorf("%s: it rests %v, want %v", name, got, c.want)
		}
	}
}

func TestAllAgentsOfARunRestWithTheOneThatMeetsTheLimit(t *testing.T) {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	created := Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "All of it", Group: true,
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume, MaxParallel: 1}}
	for _, id := range []string{"a-1", "a-2", "a-3"} {
		created.Children = append(created.Children, task.Child{Agent: id, Work: task.Work{Task: "part " + id}})
	}
	s.Do(created)
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	s.Do(Started{Agent: "a-1", Launch: 1, PID: 1})
	s.Do(TurnBegun{Agent: "a-1", Launch: 1})
	resets := s.At.Add(2 * time.Hour)
	s.Do(TurnEnded{Agent: "a-1", Launch: 1, Failure: hitLimit, Resets: &resets})
	s.Do(Ended{Agent: "a-1", Launch: 1})
	s.plansNot("launch")
	for _, id := range []string{"a-2", "a-3"} {
		a := s.State.Agents.Get(id)
		if a.Status != checkpoints.Limited || a.NotBefore.Before(resets) || a.NotBefore.After(resets.Add(pace.SpreadOver)) {
			t.Errorf("%s is %s (%s), the limit ends at %v", id, a.Status, a.Reason, resets)
		}
		s.plans("retry " + id)
	}
	if a, b := s.State.Agents.Get("a-2"), s.State.Agents.Get("a-3"); a.NotBefore.Equal(*b.NotBefore) {
		t.Error("they continue in one moment")
	}
	for _, e := range Plan(s.State) {
		switch e.Do {
		case effect.Confirm:
			s.Do(Confirmed{UUID: e.Delivery, Found: true})
		case effect.Survey:
			s.Do(Surveyed{Agent: e.Agent, Launch: e.Launch})
		}
	}
	// The first finds the limit still there: the others rest on with it.
	s.Do(RetryDue{Agent: "a-1", Until: resets})
	s.Do(Started{Agent: "a-1", Launch: 2, PID: 2})
	s.Do(TurnBegun{Agent: "a-1", Launch: 2})
	later := resets.Add(time.Hour)
	s.Do(TurnEnded{Agent: "a-1", Launch: 2, Failure: hitLimit, Resets: &later})
	for _, id := range []string{"a-2", "a-3"} {
		if a := s.State.Agents.Get(id); a.NotBefore == nil || a.NotBefore.Before(later) {
			t.Errorf("%s continues at %v, before the limit ends", id, a.NotBefore)
		}
		if s.try(RetryDue{Agent: id, Until: pace.Spread(resets, id)}) {
			t.Errorf("%s continues by what it has rested until before", id)
		}
	}
}

func TestCreditThatIsUsedUpFailsTheAgentForItDoesNotComeBack(t *testing.T) {
	s := Begin(t, nil)
	s.Do(TurnEnded{Agent: Root, Launch: 1,
		Failure: procs.Failure{Kind: procs.Limit, Reason: "Credit balance is too low"}})
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
	s.exits(exit.Failed)
	if !s.State.Agents.Get(Root).Revivable() {
		t.Error("once there is credit again, resume does not continue with it")
	}
}
