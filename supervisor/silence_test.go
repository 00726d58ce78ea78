package supervisor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

func (s *story) fallsSilent(doing string) {
	s.t.Helper()
	s.plans("watch " + root)
	s.do(FellSilent{Agent: root, Launch: s.state.launch(root).N, Since: s.at.Add(-10 * time.Minute), Doing: doing})
}

func TestASilentAgentIsSaidToBeSilentSinceWhenAndDoingWhatUntilItSpeaks(t *testing.T) {
	s := begin(t, func(c *Config) { c.SilentAfter, c.OnSilence = 10*time.Minute, TellSilence })
	since := s.at.Add(time.Second).Add(-10 * time.Minute)
	s.fallsSilent("Bash: npm test")
	s.is(checkpoints.Running)
	s.plansNot("watch")
	s.plansNot("end")
	if why := s.state.Agents[root].Reason; !strings.Contains(why, "silent since 08:5") || !strings.Contains(why, "Bash: npm test") {
		t.Errorf("it is silent since %v and ps says: %s", since, why)
	}
	s.do(Spoke{Agent: root, Launch: 1})
	if why := s.state.Agents[root].Reason; strings.Contains(why, "silent") {
		t.Errorf("it speaks again, and ps says: %s", why)
	}
	s.plans("watch " + root)
}

func TestASilentAgentIsTriedAgainOrFailsAsThePersonWants(t *testing.T) {
	for policy, check := range map[OnSilence]func(*story){
		RetrySilence: func(s *story) {
			s.ends()
			s.rests(true)
			s.plans("retry " + root)
			s.do(RetryDue{Agent: root})
			s.launches(2)
			s.is(checkpoints.Running)
		},
		FailSilence: func(s *story) {
			s.ends()
			s.rests(true)
			s.is(checkpoints.Failed)
			s.exits(ExitFailed)
		},
	} {
		t.Run(string(policy), func(t *testing.T) {
			s := begin(t, func(c *Config) { c.SilentAfter, c.OnSilence = time.Minute, policy })
			s.fallsSilent("waits for the API")
			check(s)
		})
	}
}

func TestWhoWaitsForAPersonIsNotWatched(t *testing.T) {
	s := begin(t, func(c *Config) { c.SilentAfter = time.Minute })
	s.asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	s.plansNot("watch")
	if s.try(FellSilent{Agent: root, Launch: 1, Since: s.at, Doing: "waits for the API"}) {
		t.Error("it is silent while it waits for a person")
	}
}

// The end of background work starts a turn by itself: nothing is said or concluded before that.
func TestAfterBackgroundWorkTheTurnThatFollowsIsWaitedFor(t *testing.T) {
	inBackground := func(t *testing.T) *story {
		s := begin(t, nil)
		s.do(GateAsked{Agent: root, Launch: 1, Request: "g1", Background: []checkpoints.Task{{Name: "shell: make"}}})
		s.do(GateReplied{Agent: root, Launch: 1, Request: "g1"})
		s.turnEnds()
		s.do(BackgroundChanged{Agent: root, Launch: 1})
		s.is(checkpoints.Blocked)
		s.plansNot("end")
		s.plansNot("check")
		return s
	}
	t.Run("it comes", func(t *testing.T) {
		s := inBackground(t)
		s.do(TurnBegun{Agent: root, Launch: 1})
		s.reports("success", "")
		s.turnEnds()
		s.do(Checked{Agent: root})
		s.ends()
		s.is(checkpoints.Succeeded)
	})
	t.Run("it does not come, and the agent is sent on", func(t *testing.T) {
		s := inBackground(t)
		s.fallsSilent("")
		if d := s.delivers(1); !strings.HasPrefix(d.Text, "## GO ON") {
			t.Errorf("the agent reads: %s", d.Text)
		}
	})
	t.Run("its process dies first, and the agent goes on in another", func(t *testing.T) {
		s := inBackground(t)
		s.dies(crash())
		s.rests(true)
		s.do(RetryDue{Agent: root})
		s.plans("launch " + root + " 2")
	})
}

func TestAPersonsCommandIsToldOnceHowTheRunIsLeft(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold, c.OnQuestion, c.Notify = 0, Park, []string{"/bin/notify"} })
	s.asks("q-1", "Which database?")
	s.do(Noticed{Question: "q-1"})
	s.ends()
	s.rests(true)
	s.plans("announce parked")
	s.plansNot("leave")
	s.do(Announced{Leaving: leavingParked, Problem: "exit status 1"})
	s.plans("leave")
	s.plansNot("announce")
	s.do(Left{})
	s.do(Opened{PID: 2, Policy: Park})
	s.plans("notify q-1")
	s.do(Noticed{Question: "q-1"})
	s.plans("announce parked") // another supervisor leaves it once more
}

func TestAnInterruptNeedsNoAnnouncement(t *testing.T) {
	s := begin(t, func(c *Config) { c.Notify = []string{"/bin/notify"} })
	s.do(InterruptAsked{By: "interrupt"})
	s.ends()
	s.rests(true)
	s.plans("leave")
}

// While it lasts a hold looks at no wall clock, so that none can end it.
func TestAHoldLastsAsLongAsItWasToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := (&engine{}).hold(Effect{Do: DoHold, Agent: root, Launch: 1, Until: now().Add(5 * time.Minute)})
		begun := time.Now()
		if r := wait(t.Context()); r.body != (HoldEnded{Agent: root, Launch: 1}) || time.Since(begun) != 5*time.Minute {
			t.Errorf("after %v it gives %+v", time.Since(begun), r.body)
		}
	})
}

func TestARestIsOverWhenEitherClockSaysSo(t *testing.T) {
	due := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		wall         time.Time
		steady, want time.Duration
	}{
		"on time":                         {due, 0, 0},
		"in the middle":                   {due.Add(-time.Minute), time.Minute, time.Minute},
		"the machine slept":               {due.Add(time.Hour), time.Minute, -time.Hour},
		"the clock was put back":          {due.Add(-24 * time.Hour), time.Minute, time.Minute},
		"and the rest is over by the way": {due.Add(-24 * time.Hour), -time.Second, -time.Second},
	} {
		if got := restLeft(due, c.wall, c.steady); got != c.want {
			t.Errorf("%s: %v are left, want %v", name, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		until := now().Add(90 * time.Second)
		wait := (&engine{}).rest(Effect{Do: DoRetry, Agent: root, Until: until})
		begun := time.Now()
		if r := wait(t.Context()); r.body != (RetryDue{Agent: root, Until: until}) || time.Since(begun) != 90*time.Second {
			t.Errorf("after %v it gives %+v", time.Since(begun), r.body)
		}
	})
}

func TestAPulseKnowsTheCallsUnderWay(t *testing.T) {
	e := &engine{state: State{Launches: map[string][]*Launch{root: {{Agent: root, N: 1, State: checkpoints.LaunchStarted, Turn: true}}}}}
	c := &child{agent: root, launch: 1}
	hear := func(m procs.Message) {
		t.Helper()
		if err := e.stirred(t.Context(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	says := func(want string) {
		t.Helper()
		if got := e.doing(c); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	says("waits for the API")
	hear(procs.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"npm test"}`)})
	hear(procs.ToolUse{ID: "2", Name: "Read", Input: []byte(`{"file_path":"a.txt"}`)})
	says("Read: a.txt")
	hear(procs.ToolResult{ToolUse: "2"})
	says("Bash: npm test")
	hear(procs.Result{})
	says("waits for the API")
}
