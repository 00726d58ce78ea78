package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/records"
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

func TestAPersonsCommandIsToldOnceHowTheRunIsLeft(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.OnQuestion, c.Notify = 0, conf.Park, []string{"/bin/notify"} })
	s.Asks("q-1", "Which database?")
	s.Do(NotificationSent{Question: "q-1"})
	s.Ends()
	s.Rests(true)
	s.plans("announce parked")
	s.plansNot("leave")
	s.Do(Announced{Leaving: records.LeavingParked, Problem: "exit status 1"})
	s.plans("leave")
	s.plansNot("announce")
	s.Do(Left{})
	s.Do(Opened{PID: 2, Policy: conf.Park})
	s.plans("notify q-1")
	s.Do(NotificationSent{Question: "q-1"})
	s.plans("announce parked") // another supervisor leaves it once more
}
