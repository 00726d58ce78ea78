package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
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

func TestAFailureThatDoesNotPassEndsTheRunWithItsReason(t *testing.T) {
	for _, c := range []struct {
		kind procs.FailureKind
		code int
	}{{procs.Login, exit.Failed}, {procs.OverBudget, exit.Budget}} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(TurnEnded{Agent: Root, Launch: 1, Failure: procs.Failure{Kind: c.kind, Reason: "because"}})
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Failed)
			s.exits(c.code)
			if r := s.State.Agents.Get(Root).Reason; r != "because" {
				t.Fatalf("the reason is %q", r)
			}
		})
	}
}

func TestAnAgentThatCannotBeStartedIs69AndResumeTriesAgain(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "SQLite")
	s.Do(Ended{Agent: Root, Launch: 2, Outcome: "never ran",
		Failure: procs.Failure{Kind: procs.NotStarted, Reason: "no such file"}})
	s.Rests(false)
	s.is(checkpoints.Failed)
	s.exits(exit.NoAgent)
	s.Do(Left{})
	s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true})
	if text := s.delivered(3); !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the answer is lost; the agent reads:\n%s", text)
	}
}

func TestACrashInTheMiddleOfATurnIsToldToGoOn(t *testing.T) {
	s := Begin(t, nil)
	s.dies(crash())
	s.Rests(true)
	s.Do(RetryDue{Agent: Root})
	if text := s.delivered(2); !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
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

func TestAPromptThatTheConversationAlreadyHadIsFollowedByGoOn(t *testing.T) {
	s := Begin(t, nil)
	s.dies(crash())
	s.Rests(false)
	s.Do(RetryDue{Agent: Root})
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	var d *Delivery
	for _, e := range Plan(s.State) {
		if e.Do == effect.Deliver {
			d = s.State.Deliveries.Get(e.Delivery)
		}
	}
	s.Do(Sent{UUID: d.UUID, Launch: 2})
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	if text := s.Delivers(2).Text; !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAProcessThatDiesWhileItWaitsLeavesTheQuestionParked(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.dies(crash())
	s.Rests(true)
	s.is(checkpoints.Parked)
	s.Answers("q-1", "SQLite")
	if text := s.delivered(2); !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestASessionThatIsGoneGetsAFreshOneWithTheCheckpointAndTheAnswer(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "SQLite")
	old := s.State.Agents.Get(Root).SessionID
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	s.Delivers(2)
	s.Do(Ended{Agent: Root, Launch: 2, Outcome: "exit 1",
		Failure: procs.Failure{Kind: procs.SessionGone, Reason: "gone"}})
	s.Rests(false)
	if l := s.State.Launch(Root); l.N != 3 || l.Resume || s.State.Agents.Get(Root).SessionID == old {
		t.Fatalf("launch %+v in session %s", l, s.State.Agents.Get(Root).SessionID)
	}
	text := s.delivered(3)
	for _, want := range []string{"EXECUTION CONTEXT", "## YOUR TASK", "## STATE RESTORATION",
		"schema.sql", "A1: SQLite"} {
		if !strings.Contains(text, want) {
			t.Errorf("the fresh session does not read %q:\n%s", want, text)
		}
	}
}

// The process was killed so early that there is no conversation at all: the task is given to a new one.
func TestASessionThatNeverWasBeginsAgainWithTheTask(t *testing.T) {
	s := Begin(t, nil)
	s.dies(crash())
	s.Rests(false)
	s.Do(RetryDue{Agent: Root})
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	s.Delivers(2)
	gone := procs.Failure{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}
	s.Do(TurnEnded{Agent: Root, Launch: 2, Failure: gone})
	s.dies(gone)
	s.Rests(false)
	if text := s.delivered(3); !strings.Contains(text, "## YOUR TASK") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestRelaunchFreshBeginsANewConversation(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.Relaunch = 0, conf.Fresh })
	s.Asks("q-1", "Which database?")
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "SQLite")
	if l := s.State.Launch(Root); l.Resume {
		t.Fatal("the conversation is resumed")
	}
	if text := s.delivered(2); !strings.Contains(text, "## YOUR TASK") || !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAFlagThatTheReleaseRefusesIsLeftOut(t *testing.T) {
	s := Begin(t, nil)
	s.dies(procs.Failure{Kind: procs.RefusedFlag, Passing: true, Flag: "--forward-subagent-text",
		Reason: "unknown option"})
	s.Rests(false)
	s.plans("launch " + Root + " 2")
	if w := s.State.Agents.Get(Root).Without; len(w) != 1 {
		t.Fatalf("without %q", w)
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

func TestASupervisorThatTakesOverEndsWhatTheLastOneLeftBeforeItGoesOn(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	if got := s.keys(); len(got) != 1 || got[0] != "recover "+Root+" 1" {
		t.Fatalf("the plan is %q", got)
	}
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	s.plansNot("launch")
	s.Rests(true)
	s.plans("launch " + Root + " 2")
	if text := s.delivered(2); !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAQuestionThatWasHeldWhenTheSupervisorDiedIsNoticedAgainAndDeliveredOnce(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Do(NotificationSent{Question: "q-1"})
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.plans("notify q-1")
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	s.Rests(true)
	s.is(checkpoints.Parked)
	s.Answers("q-1", "SQLite")
	s.Launches(2)
	s.turnEnds()
	carried := 0
	for _, text := range s.prompts() {
		carried += strings.Count(text, "A1: SQLite")
	}
	if carried != 1 {
		t.Fatalf("the answer was delivered %d times", carried)
	}
}

func TestAQuestionThatADyingSupervisorReadAndDidNotSaveIsFoundInTheLog(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	for _, d := range s.State.FindDeliveries(Root, waitsForReceipt) {
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

func TestWhatWasAnsweredWhileNobodyWasThereIsNotAskedAgain(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.OnQuestion = 0, conf.Park })
	s.Asks("q-1", "Which database?")
	s.Ends()
	s.Rests(true)
	s.Do(NotificationSent{Question: "q-1"})
	s.Do(Left{})
	s.Do(Opened{PID: 2, Policy: conf.Ask,
		Notes: []InboxEntry{{Seq: 1, Kind: EntryAnswer, Question: "q-1", Value: "SQLite", At: s.At}}})
	s.plansNot("notify")
	s.plans("launch " + Root + " 2")
}
