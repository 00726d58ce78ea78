package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
)

func TestAPassingFailureIsTriedAgainWithGrowingRests(t *testing.T) {
	s := Begin(t, nil)
	overloaded := procs.Failure{Kind: procs.API, Passing: true, Reason: "API Error: 529 Overloaded"}
	var last time.Duration
	for n := 1; n <= 2; n++ {
		s.Do(TurnEnded{Agent: Root, Launch: n, Failure: overloaded})
		s.Ends()
		s.Rests(true)
		due := s.State.Agents.Get(Root).NotBefore
		if due == nil {
			t.Fatal("no rest before the next try")
		}
		rest := due.Sub(s.At)
		if rest <= last-time.Minute {
			t.Fatalf("rest %d is %v after %v", n, rest, last)
		}
		last = rest
		s.plans("retry " + Root)
		s.Do(RetryDue{Agent: Root})
		s.Launches(n + 1)
	}
	s.Do(TurnEnded{Agent: Root, Launch: 3, Failure: overloaded})
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
	if r := s.State.Agents.Get(Root).Reason; r != "API Error: 529 Overloaded (after 2 retries)" {
		t.Fatalf("the reason is %q", r)
	}
}

func TestAPromptThatNeverArrivedIsSentAgainUnderTheSameUUID(t *testing.T) {
	s := Begin(t, nil)
	first := s.State.FindDeliveries(Root, func(*Delivery) bool { return true })[0].UUID
	s.dies(crash())
	s.Rests(false)
	s.Do(RetryDue{Agent: Root})
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	if d := s.Delivers(2); d.UUID != first || !strings.Contains(d.Text, "## YOUR TASK") {
		t.Fatalf("%s was sent, not %s:\n%s", d.UUID, first, d.Text)
	}
}

func TestAFlagThatClaudeHasRefusedIsLeftOutOnceOthersAreGiven(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Flags = []string{"--bogus", "1", "--model", "opus"} })
	s.dies(procs.Failure{Kind: procs.RefusedFlag, Flag: "--bogus", Reason: "this release of claude does not know --bogus"})
	s.Rests(true)
	s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true, Given: conf.Given{Unrefused: true, Flags: []string{"--effort",
		"low"}}})
	if got := strings.Join(s.State.Config.Flags, " "); got != "--model opus --effort low" {
		t.Fatalf("the flags are %s", got)
	}
}

func TestAQuestionThatADyingSupervisorReadAndDidNotSaveIsFoundInTheLog(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	for _, d := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: d.UUID, Found: true})
	}
	s.Do(Surveyed{Agent: Root, Launch: 1, Whole: true,
		Unread: []Named{s.clarification("q-1", "Which database?").Named}})
	s.is(checkpoints.Parked)
	s.Answers("q-1", "SQLite")
	if text := s.delivered(2); strings.Contains(text, "## GO ON") || !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}
