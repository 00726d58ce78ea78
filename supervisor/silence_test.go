package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
)

func (s *Story) fallsSilent(doing string) {
	s.T.Helper()
	s.plans("watch " + Root)
	s.Do(Stalled{Agent: Root, Launch: s.State.Launch(Root).N, Since: s.At.Add(-10 * time.Minute), Doing: doing})
}

func TestASilentAgentIsSaidToBeSilentSinceWhenAndDoingWhatUntilItSpeaks(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.SilentAfter, c.OnSilence = 10*time.Minute, conf.TellSilence })
	since := s.At.Add(-10 * time.Minute)
	s.fallsSilent("Bash: npm test")
	s.is(checkpoints.Running)
	s.plansNot("watch")
	s.plansNot("end")
	if why := s.State.Agents.Get(Root).Reason; !strings.Contains(why, "silent since "+since.UTC().Format(time.RFC3339)) ||
		!strings.Contains(why, "Bash: npm test") {
		t.Errorf("it is silent since %v and ps says: %s", since, why)
	}
	s.Do(Recovered{Agent: Root, Launch: 1})
	if why := s.State.Agents.Get(Root).Reason; strings.Contains(why, "silent") {
		t.Errorf("it speaks again, and ps says: %s", why)
	}
	s.plans("watch " + Root)
}

func TestASilentAgentIsTriedAgainOrFailsAsThePersonWants(t *testing.T) {
	for policy, check := range map[conf.OnSilence]func(*Story){
		conf.RetrySilence: func(s *Story) {
			s.Ends()
			s.Rests(true)
			s.plans("retry " + Root)
			s.Do(RetryDue{Agent: Root})
			s.Launches(2)
			s.is(checkpoints.Running)
		},
		conf.FailSilence: func(s *Story) {
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Failed)
			s.exits(exit.Failed)
		},
	} {
		t.Run(string(policy), func(t *testing.T) {
			s := Begin(t, func(c *conf.Config) { c.SilentAfter, c.OnSilence = time.Minute, policy })
			s.fallsSilent("waits for the API")
			check(s)
		})
	}
}

func TestWhoWaitsForAPersonIsNotWatched(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.SilentAfter = time.Minute })
	s.Asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	s.plansNot("watch")
	if s.try(Stalled{Agent: Root, Launch: 1, Since: s.At, Doing: "waits for the API"}) {
		t.Error("it is silent while it waits for a person")
	}
}

// The end of background work starts a turn by itself: nothing is said or concluded before that.
func TestAfterBackgroundWorkTheTurnThatFollowsIsWaitedFor(t *testing.T) {
	inBackground := func(t *testing.T) *Story {
		s := Begin(t, nil)
		s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Background: []checkpoints.Task{{Name: "shell: make"}}})
		s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
		s.turnEnds()
		s.Do(BackgroundChanged{Agent: Root, Launch: 1})
		s.is(checkpoints.Blocked)
		s.plansNot("end")
		s.plansNot("check")
		return s
	}
	t.Run("it comes", func(t *testing.T) {
		s := inBackground(t)
		s.Do(TurnBegun{Agent: Root, Launch: 1})
		s.reports("success", "")
		s.turnEnds()
		s.Do(Checked{Agent: Root})
		s.Ends()
		s.is(checkpoints.Succeeded)
	})
	t.Run("it does not come, and the agent is sent on", func(t *testing.T) {
		s := inBackground(t)
		s.fallsSilent("")
		if d := s.Delivers(1); !strings.HasPrefix(d.Text, "## GO ON") {
			t.Errorf("the agent reads: %s", d.Text)
		}
	})
	t.Run("its process dies first, and the agent continues in another", func(t *testing.T) {
		s := inBackground(t)
		s.dies(crash())
		s.Rests(true)
		s.Do(RetryDue{Agent: Root})
		s.plans("launch " + Root + " 2")
	})
}

func TestAPersonsCommandIsToldOnceHowTheRunIsLeft(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.OnQuestion, c.Notify = 0, conf.Park, []string{"/bin/notify"} })
	s.Asks("q-1", "Which database?")
	s.Do(NotificationSent{Question: "q-1"})
	s.Ends()
	s.Rests(true)
	s.plans("announce parked")
	s.plansNot("leave")
	s.Do(Announced{Leaving: LeavingParked, Problem: "exit status 1"})
	s.plans("leave")
	s.plansNot("announce")
	s.Do(Left{})
	s.Do(Opened{PID: 2, Policy: conf.Park})
	s.plans("notify q-1")
	s.Do(NotificationSent{Question: "q-1"})
	s.plans("announce parked") // another supervisor leaves it once more
}

func TestAnInterruptNeedsNoAnnouncement(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Notify = []string{"/bin/notify"} })
	s.Do(InterruptAsked{By: "interrupt"})
	s.Ends()
	s.Rests(true)
	s.plans("leave")
}
