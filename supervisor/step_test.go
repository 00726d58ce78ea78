package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

func TestAnAgentThatReportsSucceeds(t *testing.T) {
	s := begin(t, nil)
	s.is(checkpoints.Running)
	s.reports("success", "")
	s.do(GateAsked{Agent: root, Launch: 1, Request: "g1"})
	if g := s.state.launch(root).Gate; g == nil || g.Block != "" {
		t.Fatalf("the gate holds a reported agent: %+v", g)
	}
	s.plans("gate g1")
	s.do(GateReplied{Agent: root, Launch: 1, Request: "g1"})
	s.turnEnds()
	s.plans("check " + root)
	s.do(Checked{Agent: root})
	s.ends()
	s.is(checkpoints.Succeeded)
	s.exits(ExitSuccess)
	if got := s.keys(); len(got) != 1 || got[0] != "leave" {
		t.Fatalf("after the end the plan is %q", got)
	}
	s.do(Left{})
	if got := s.keys(); len(got) != 0 {
		t.Fatalf("after leaving the plan is %q", got)
	}
}

func TestAnAnswerWithinTheHoldGoesIntoTheSameProcess(t *testing.T) {
	s := begin(t, nil)
	s.do(s.clarification("q-1", "Which database?"))
	s.is(checkpoints.Running) // a signal takes effect when the turn ends, but is shown at once
	s.plans("notify q-1")
	s.do(Noticed{Question: "q-1"})
	s.plansNot("notify")
	s.turnEnds()
	s.is(checkpoints.Waiting)
	s.plans("hold " + root)
	s.answers("q-1", "PostgreSQL")
	s.plansNot("hold")
	d := s.delivers(1)
	if !strings.Contains(d.Text, "## CLARIFICATION RESPONSE") || !strings.Contains(d.Text, "A1: PostgreSQL") || !strings.Contains(d.Text, "Q1: Which database?") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.reports("success", "")
	s.turnEnds()
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionDelivered {
		t.Fatalf("the question is %s", q.State)
	}
	s.do(Checked{Agent: root})
	s.ends()
	s.is(checkpoints.Succeeded)
	if n := s.state.Agents[root].Launches; n != 1 {
		t.Fatalf("%d launches", n)
	}
}

func TestAfterTheHoldTheAgentIsParkedAndTheAnswerRelaunchesIt(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.do(Noticed{Question: "q-1"})
	s.do(HoldEnded{Agent: root, Launch: 1})
	s.ends()
	s.rests(true)
	s.is(checkpoints.Parked)
	if got := s.keys(); len(got) != 0 {
		t.Fatalf("a parked agent under --on-question ask has the plan %q", got)
	}
	s.answers("q-1", "SQLite")
	if l := s.state.launch(root); l.N != 2 || !l.Resume {
		t.Fatalf("launch %+v does not resume the conversation", l)
	}
	s.launches(2)
	s.reports("success", "")
	s.turnEnds()
	s.do(Checked{Agent: root})
	s.ends()
	s.is(checkpoints.Succeeded)
	if got := s.prompts(); len(got) != 2 || strings.Contains(got[1], "EXECUTION CONTEXT") {
		t.Fatalf("the agent was told %d things: %q", len(got), got)
	}
}

func TestWithoutAHoldTheAgentIsParkedAtOnce(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"--hold 0":     func(c *Config) { c.Hold = 0 },
		"--max-held 0": func(c *Config) { c.MaxHeld = 0; c.Hold = Forever },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, change)
			s.asks("q-1", "Which database?")
			s.plans("end " + root)
			s.ends()
			s.rests(true)
			s.is(checkpoints.Parked)
		})
	}
}

func TestAHoldForeverNeverEnds(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold = Forever })
	s.asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	s.plansNot("hold")
	s.plansNot("end")
}

func TestUnderTheParkPolicyTheSupervisorLeavesWith75AndAnAnswerMeanwhileKeepsIt(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold, c.OnQuestion = 0, Park })
	s.asks("q-1", "Which database?")
	s.ends()
	s.rests(true)
	s.plansNot("leave") // the notice comes first
	s.do(Noticed{Question: "q-1"})
	s.plans("leave")
	s.exits(ExitParked)
	s.answers("q-1", "SQLite")
	s.plansNot("leave")
	s.plans("launch")
}

func TestUnderTheFailPolicyAQuestionFailsTheAgent(t *testing.T) {
	s := begin(t, func(c *Config) { c.OnQuestion = Fail })
	s.do(s.clarification("q-1", "Which database?"))
	s.ends()
	s.rests(true)
	s.is(checkpoints.Failed)
	s.exits(ExitFailed)
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
}

func TestUnderTheFailPolicyAQuestionThatWasOpenIsRefusedToo(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold, c.OnQuestion = 0, Park })
	s.asks("q-1", "Which database?")
	s.ends()
	s.rests(true)
	s.do(Noticed{Question: "q-1"})
	s.do(Left{})
	s.do(Opened{PID: 2, Policy: Fail, Revive: true})
	s.is(checkpoints.Failed)
}

func TestAnAnswerGivenInAdvanceIsTaken(t *testing.T) {
	s := begin(t, nil)
	h := s.clarification("q-1", "Which database?")
	h.Presets = []Preset{{Key: "database", Value: "SQLite"}}
	s.do(h)
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionAnswered || q.AnsweredBy != "--answer database" {
		t.Fatalf("the question is %s, by %q", q.State, q.AnsweredBy)
	}
	s.plansNot("notify")
}

func TestAnAnswerWhileTheProcessIsParkedIsNotLost(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.do(HoldEnded{Agent: root, Launch: 1})
	s.answers("q-1", "SQLite")
	s.plansNot("deliver")
	s.ends()
	s.rests(true)
	s.plans("launch " + root + " 2")
}

func TestTheFirstAnswerStandsUntilItIsChangedBeforeItsDelivery(t *testing.T) {
	s := begin(t, nil)
	s.do(s.clarification("q-1", "Which database?"))
	s.answers("q-1", "SQLite")
	s.answers("q-1", "MySQL")
	if q := s.state.Questions["q-1"]; q.Answer != "SQLite" {
		t.Fatalf("a second answer was taken: %q", q.Answer)
	}
	s.notes(Note{Kind: noteChange, Question: "q-1", Value: "MySQL"})
	s.turnEnds()
	if d := s.delivers(1); !strings.Contains(d.Text, "A1: MySQL") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.notes(Note{Kind: noteChange, Question: "q-1", Value: "SQLite"})
	if q := s.state.Questions["q-1"]; q.Answer != "MySQL" {
		t.Fatalf("an answer was changed on its way: %q", q.Answer)
	}
}

func TestAnAnswerAndItsChangeThatLieTogetherAreOneAnswer(t *testing.T) {
	s := begin(t, nil)
	s.do(askUser("q-1"))
	s.notes(Note{Kind: noteAnswer, Question: "q-1", Value: "SQLite"}, Note{Kind: noteChange, Question: "q-1", Value: "MySQL"})
	if d := s.delivers(1); !strings.Contains(string(d.Reply), `"Which database?":"MySQL"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
}

func TestTheSameSignalIsOneQuestionUntilItsAnswerIsDelivered(t *testing.T) {
	s := begin(t, nil)
	s.do(s.clarification("q-1", "Which database?"))
	if s.try(s.clarification("q-2", "Which database?")) {
		t.Fatal("the same signal opened a second question")
	}
	s.turnEnds()
	s.answers("q-1", "SQLite")
	s.delivers(1)
	s.turnEnds()
	s.is(checkpoints.Running) // it ended without a report and is being finished
}

func TestQuestionsOfOneSignalAreDeliveredTogether(t *testing.T) {
	s := begin(t, nil)
	h := s.clarification("q-1", "Which database?")
	h.Signal.Questions = append(h.Signal.Questions, signals.Question{ID: "Q2", Text: "Which version?"})
	h.IDs, h.Presets = []string{"q-1", "q-2"}, nil
	s.do(h)
	s.turnEnds()
	s.answers("q-2", "17")
	s.is(checkpoints.Waiting)
	s.plansNot("deliver")
	s.answers("q-1", "PostgreSQL")
	if d := s.delivers(1); !strings.Contains(d.Text, "A1: PostgreSQL") || !strings.Contains(d.Text, "A2: 17") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
}

// A tool's answer goes back in the same turn, and counts as delivered by the tool's result.
func TestAToolsQuestionIsAnsweredInItsTurn(t *testing.T) {
	s := begin(t, nil)
	s.do(askUser("q-1"))
	s.is(checkpoints.Waiting)
	s.plans("hold")
	s.answers("q-1", "SQLite")
	s.is(checkpoints.Running)
	d := s.delivers(1)
	if string(d.Reply) != `{"behavior":"allow","updatedInput":{"answers":{"Which database?":"SQLite"},"questions":[{"question":"Which database?"}]}}` {
		t.Fatalf("the reply is %s", d.Reply)
	}
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionDelivered {
		t.Fatalf("the question is %s", q.State)
	}
}

func askUser(id string) Asked {
	return Asked{
		Agent: root, Launch: 1, Kind: checkpoints.AskClarification,
		Call: checkpoints.ToolCall{Launch: 1, Request: "req-1", ToolUse: "toolu_1", Name: askUserQuestion,
			Input: raw(map[string]any{"questions": []map[string]string{{"question": "Which database?"}}})},
		Questions: []signals.Question{{ID: "Q1", Text: "Which database?"}}, Naming: Naming{IDs: []string{id}},
	}
}

func TestAToolsAnswerThatMayBeLostIsRestatedOnlyIfTheTranscriptLacksIt(t *testing.T) {
	for name, found := range map[string]bool{"lost": false, "in the transcript": true} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, nil)
			s.do(askUser("q-1"))
			s.answers("q-1", "SQLite")
			s.delivers(1)
			s.dies(crash())
			s.plansNot("launch")
			for _, d := range s.state.deliveries(root, waitsForReceipt) {
				s.do(Confirmed{UUID: d.UUID, Found: d.Tool == nil || found})
			}
			s.rests(true)
			s.do(RetryDue{Agent: root})
			s.plans("launch " + root + " 2")
			text := s.delivered(2)
			if restated := strings.Contains(text, "A1: SQLite"); restated == found {
				t.Fatalf("found %v, and the relaunch says:\n%s", found, text)
			}
		})
	}
}

// delivered starts launch n and gives what it is told first.
func (s *story) delivered(n int) string {
	s.t.Helper()
	s.do(Started{Agent: root, Launch: n, PID: 100 + n})
	return s.delivers(n).Text
}

// The CLI writes its transcript up to 100 ms late: what it confirmed and then forgot is said again.
func TestAToolsAnswerThatWasConfirmedAndThenForgottenIsRestated(t *testing.T) {
	s := begin(t, nil)
	s.do(askUser("q-1"))
	s.answers("q-1", "SQLite")
	d := s.delivers(1)
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.dies(crash())
	for _, v := range s.state.deliveries(root, waitsForReceipt) {
		s.do(Confirmed{UUID: v.UUID, Found: v.Tool == nil})
	}
	s.rests(true)
	s.do(RetryDue{Agent: root})
	if text := s.delivered(2); !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAPermissionGivenWhileParkedIsGoodForOneCallOfThatInput(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold = 0 })
	ask := func(launch int, request, id, file string) Asked {
		return Asked{
			Agent: root, Launch: launch, Kind: checkpoints.AskPermission,
			Call:      checkpoints.ToolCall{Launch: launch, Request: request, ToolUse: "toolu_" + request, Name: "Write", Input: raw(map[string]string{"file_path": file})},
			Questions: []signals.Question{{ID: "Write", Text: "Allow Write?"}}, Naming: Naming{IDs: []string{id}},
		}
	}
	s.do(ask(1, "r1", "q-1", "/a"))
	s.ends()
	s.rests(true)
	s.answers("q-1", allow)
	s.launches(2)
	s.do(ask(2, "r2", "q-2", "/a"))
	if s.state.Questions["q-2"] != nil {
		t.Fatal("what was allowed is asked again")
	}
	d := s.delivers(2)
	if !strings.Contains(string(d.Reply), `"behavior":"allow"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.do(ask(2, "r3", "q-3", "/a"))
	if s.state.Questions["q-3"] == nil {
		t.Fatal("a permission was used twice")
	}
}

func TestTheGateSendsAnAgentWithoutAReportOnOnce(t *testing.T) {
	s := begin(t, nil)
	s.do(GateAsked{Agent: root, Launch: 1, Request: "g1"})
	if g := s.state.launch(root).Gate; !strings.Contains(g.Block, "[COMPLETION_REPORT]") {
		t.Fatalf("the gate says %q", g.Block)
	}
	s.do(GateReplied{Agent: root, Launch: 1, Request: "g1"})
	s.do(GateAsked{Agent: root, Launch: 1, Request: "g2"})
	if g := s.state.launch(root).Gate; g.Block != "" {
		t.Fatalf("the gate sends it on again: %q", g.Block)
	}
	s.turnEnds()
	s.ends()
	s.rests(true)
	s.is(checkpoints.Unreported)
	s.exits(ExitUnreported)
}

// Cut short, the turn in which it was to report has not been one.
func TestTheGateSendsAnAgentOnAnewWhoseTurnWasCutShort(t *testing.T) {
	s := begin(t, nil)
	s.do(GateAsked{Agent: root, Launch: 1, Request: "g1"})
	s.do(GateReplied{Agent: root, Launch: 1, Request: "g1"})
	s.dies(procs.Failure{})
	s.rests(true)
	s.startsWork(root)
	s.do(GateAsked{Agent: root, Launch: 2, Request: "g1"})
	if g := s.state.launch(root).Gate; !strings.Contains(g.Block, "[COMPLETION_REPORT]") {
		t.Fatalf("the gate says %q", g.Block)
	}
}

func TestTheGateLetsATurnEndThatAsksOrStillWorks(t *testing.T) {
	for name, prepare := range map[string]func(*story, *GateAsked){
		"an open question":              func(s *story, _ *GateAsked) { s.do(s.clarification("q-1", "Which?")) },
		"a question that ends the turn": func(_ *story, g *GateAsked) { g.Ask = true },
		"a report that ends the turn":   func(_ *story, g *GateAsked) { g.Report = true },
		"background work":               func(_ *story, g *GateAsked) { g.Background = []checkpoints.Task{{Name: "shell: make test"}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, nil)
			g := GateAsked{Agent: root, Launch: 1, Request: "g1"}
			prepare(s, &g)
			s.do(g)
			if block := s.state.launch(root).Gate.Block; block != "" {
				t.Fatalf("the gate says %q", block)
			}
		})
	}
}

func TestNoSuccessWhileBackgroundWorkLives(t *testing.T) {
	s := begin(t, nil)
	s.reports("success", "")
	s.do(GateAsked{Agent: root, Launch: 1, Request: "g1", Background: []checkpoints.Task{{Name: "shell: make test"}}})
	s.do(GateReplied{Agent: root, Launch: 1, Request: "g1"})
	s.turnEnds()
	s.is(checkpoints.Blocked)
	s.plansNot("end")
	s.plansNot("check")
	s.do(BackgroundChanged{Agent: root, Launch: 1})
	s.do(TurnBegun{Agent: root, Launch: 1}) // the CLI begins it by itself
	s.is(checkpoints.Running)
	s.turnEnds()
	s.plans("check")
}

func TestAMissingDeliverableIsToldOnceAndThenThePartialSuccessStands(t *testing.T) {
	s := begin(t, nil)
	s.reports("success", "- report.md")
	s.turnEnds()
	s.do(Checked{Agent: root, Missing: []string{"report.md"}})
	if d := s.delivers(1); !strings.Contains(d.Text, "## DELIVERABLES MISSING") || !strings.Contains(d.Text, "report.md") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.reports("success", "- report.md")
	s.turnEnds()
	s.do(Checked{Agent: root, Missing: []string{"report.md"}})
	s.ends()
	s.is(checkpoints.Partial)
	s.exits(ExitPartial)
}

func TestEachReportedStatusHasItsExitCode(t *testing.T) {
	for status, want := range map[string]int{"success": ExitSuccess, "partial_success": ExitPartial, "failed": ExitFailed, "sort of": ExitPartial} {
		t.Run(status, func(t *testing.T) {
			s := begin(t, nil)
			s.reports(status, "")
			s.turnEnds()
			s.do(Checked{Agent: root})
			s.ends()
			s.exits(want)
		})
	}
}

func TestAPassingFailureIsTriedAgainWithGrowingRests(t *testing.T) {
	s := begin(t, nil)
	overloaded := procs.Failure{Kind: procs.API, Passing: true, Reason: "API Error: 529 Overloaded"}
	var last time.Duration
	for n := 1; n <= 2; n++ {
		s.do(TurnEnded{Agent: root, Launch: n, Failure: overloaded})
		s.ends()
		s.rests(true)
		due := s.state.Agents[root].NotBefore
		if due == nil {
			t.Fatal("no rest before the next try")
		}
		rest := due.Sub(s.at)
		if rest <= last-time.Minute {
			t.Fatalf("rest %d is %v after %v", n, rest, last)
		}
		last = rest
		s.plans("retry " + root)
		s.do(RetryDue{Agent: root})
		s.launches(n + 1)
	}
	s.do(TurnEnded{Agent: root, Launch: 3, Failure: overloaded})
	s.ends()
	s.rests(true)
	s.is(checkpoints.Failed)
	if r := s.state.Agents[root].Reason; r != "API Error: 529 Overloaded (after 2 retries)" {
		t.Fatalf("the reason is %q", r)
	}
}

func TestAFailureThatDoesNotPassEndsTheRunWithItsReason(t *testing.T) {
	for _, c := range []struct {
		kind procs.FailureKind
		code int
	}{{procs.Login, ExitFailed}, {procs.OverBudget, ExitBudget}} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := begin(t, nil)
			s.do(TurnEnded{Agent: root, Launch: 1, Failure: procs.Failure{Kind: c.kind, Reason: "because"}})
			s.ends()
			s.rests(true)
			s.is(checkpoints.Failed)
			s.exits(c.code)
			if r := s.state.Agents[root].Reason; r != "because" {
				t.Fatalf("the reason is %q", r)
			}
		})
	}
}

func TestAnAgentThatCannotBeStartedIs69AndResumeTriesAgain(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.do(HoldEnded{Agent: root, Launch: 1})
	s.ends()
	s.rests(true)
	s.answers("q-1", "SQLite")
	s.do(Ended{Agent: root, Launch: 2, Outcome: "never ran", Failure: procs.Failure{Kind: procs.NotStarted, Reason: "no such file"}})
	s.rests(false)
	s.is(checkpoints.Failed)
	s.exits(ExitNoAgent)
	s.do(Left{})
	s.do(Opened{PID: 2, Policy: Ask, Revive: true})
	if text := s.delivered(3); !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the answer is lost; the agent reads:\n%s", text)
	}
}

func TestACrashInTheMiddleOfATurnIsToldToGoOn(t *testing.T) {
	s := begin(t, nil)
	s.dies(crash())
	s.rests(true)
	s.do(RetryDue{Agent: root})
	if text := s.delivered(2); !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAPromptThatNeverArrivedIsSentAgainUnderTheSameUUID(t *testing.T) {
	s := begin(t, nil)
	first := s.state.deliveries(root, func(*Delivery) bool { return true })[0].UUID
	s.dies(crash())
	s.rests(false)
	s.do(RetryDue{Agent: root})
	s.do(Started{Agent: root, Launch: 2, PID: 102})
	if d := s.delivers(2); d.UUID != first || !strings.Contains(d.Text, "## YOUR TASK") {
		t.Fatalf("%s was sent, not %s:\n%s", d.UUID, first, d.Text)
	}
}

func TestAPromptThatTheConversationAlreadyHadIsFollowedByGoOn(t *testing.T) {
	s := begin(t, nil)
	s.dies(crash())
	s.rests(false)
	s.do(RetryDue{Agent: root})
	s.do(Started{Agent: root, Launch: 2, PID: 102})
	var d *Delivery
	for _, e := range Plan(s.state) {
		if e.Do == DoDeliver {
			d = s.state.Deliveries[e.Delivery]
		}
	}
	s.do(Sent{UUID: d.UUID, Launch: 2})
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	if text := s.delivers(2).Text; !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAProcessThatDiesWhileItWaitsLeavesTheQuestionParked(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.dies(crash())
	s.rests(true)
	s.is(checkpoints.Parked)
	s.answers("q-1", "SQLite")
	if text := s.delivered(2); !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestASessionThatIsGoneGetsAFreshOneWithTheCheckpointAndTheAnswer(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.do(HoldEnded{Agent: root, Launch: 1})
	s.ends()
	s.rests(true)
	s.answers("q-1", "SQLite")
	old := s.state.Agents[root].SessionID
	s.do(Started{Agent: root, Launch: 2, PID: 102})
	s.delivers(2)
	s.do(Ended{Agent: root, Launch: 2, Outcome: "exit 1", Failure: procs.Failure{Kind: procs.SessionGone, Reason: "gone"}})
	s.rests(false)
	if l := s.state.launch(root); l.N != 3 || l.Resume || s.state.Agents[root].SessionID == old {
		t.Fatalf("launch %+v in session %s", l, s.state.Agents[root].SessionID)
	}
	text := s.delivered(3)
	for _, want := range []string{"EXECUTION CONTEXT", "## YOUR TASK", "## STATE RESTORATION", "schema.sql", "A1: SQLite"} {
		if !strings.Contains(text, want) {
			t.Errorf("the fresh session does not read %q:\n%s", want, text)
		}
	}
}

// The process was killed so early that there is no conversation at all: the task is given to a new one.
func TestASessionThatNeverWasBeginsAgainWithTheTask(t *testing.T) {
	s := begin(t, nil)
	s.dies(crash())
	s.rests(false)
	s.do(RetryDue{Agent: root})
	s.do(Started{Agent: root, Launch: 2, PID: 102})
	s.delivers(2)
	gone := procs.Failure{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}
	s.do(TurnEnded{Agent: root, Launch: 2, Failure: gone})
	s.dies(gone)
	s.rests(false)
	if text := s.delivered(3); !strings.Contains(text, "## YOUR TASK") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestRelaunchFreshBeginsANewConversation(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold, c.Relaunch = 0, Fresh })
	s.asks("q-1", "Which database?")
	s.ends()
	s.rests(true)
	s.answers("q-1", "SQLite")
	if l := s.state.launch(root); l.Resume {
		t.Fatal("the conversation is resumed")
	}
	if text := s.delivered(2); !strings.Contains(text, "## YOUR TASK") || !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAFlagThatTheReleaseRefusesIsLeftOut(t *testing.T) {
	s := begin(t, nil)
	s.dies(procs.Failure{Kind: procs.RefusedFlag, Passing: true, Flag: "--forward-subagent-text", Reason: "unknown option"})
	s.rests(false)
	s.plans("launch " + root + " 2")
	if w := s.state.Agents[root].Without; len(w) != 1 {
		t.Fatalf("without %q", w)
	}
}

func TestAStopEndsTheAgentWithItsQuestionWithdrawn(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.notes(Note{Kind: noteStop})
	s.is(checkpoints.Stopping)
	s.ends()
	s.rests(true)
	s.is(checkpoints.Stopped)
	s.exits(ExitStopped)
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
	s.answers("q-1", "SQLite") // accepted before the stop was taken, so kept; nobody hears it
	s.is(checkpoints.Stopped)
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionWithdrawn || q.Delivering || q.Answer != "SQLite" {
		t.Fatalf("the question is %s, its answer %q", q.State, q.Answer)
	}
	if len(s.state.Agents[root].Sayings) > 0 {
		t.Fatal("a withdrawn question's answer is to be said")
	}
}

func TestAStopEndsWhatAnAgentStartedUnlessOnlyItIsMeant(t *testing.T) {
	for only, want := range map[bool]int{false: 3, true: 1} {
		s := begin(t, nil)
		d := newDraft(s.state)
		d.spawn(Child{Agent: "a-child0000000", Parent: root}, s.at)
		d.spawn(Child{Agent: "a-grandchild00", Parent: "a-child0000000"}, s.at)
		next, err := Step(d.State, Event{At: s.at, Body: Noted{Notes: []Note{{Kind: noteStop, Agent: root, Only: only, By: "a test"}}}})
		if err != nil {
			t.Fatal(err)
		}
		stopped := 0
		for _, a := range next.Agents {
			if a.StopWanted != "" {
				stopped++
			}
		}
		if stopped != want {
			t.Errorf("only %v: %d agents are stopped, want %d", only, stopped, want)
		}
	}
}

func TestAnInterruptParksWhatAsksAndKeepsTheRest(t *testing.T) {
	for name, asks := range map[string]bool{"asking": true, "at work": false} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, nil)
			want := checkpoints.Interrupted
			if asks {
				s.asks("q-1", "Which database?")
				s.do(Noticed{Question: "q-1"})
				want = checkpoints.Parked
			}
			s.do(InterruptAsked{By: "interrupt"})
			s.ends()
			s.rests(true)
			s.is(want)
			s.plans("leave")
			s.do(Left{})
			if code := exitCodeOf(s.state); code != ExitInterrupted {
				t.Fatalf("exit code %d", code)
			}
			s.do(Opened{PID: 2, Policy: Ask, Revive: true})
			if !asks {
				s.plans("launch " + root + " 2")
			}
		})
	}
}

func TestASupervisorThatTakesOverEndsWhatTheLastOneLeftBeforeItGoesOn(t *testing.T) {
	s := begin(t, nil)
	s.do(Opened{PID: 2, Policy: Ask})
	if got := s.keys(); len(got) != 1 || got[0] != "recover "+root+" 1" {
		t.Fatalf("the plan is %q", got)
	}
	s.do(Ended{Agent: root, Launch: 1, Outcome: "lost with its supervisor"})
	s.plansNot("launch")
	s.rests(true)
	s.plans("launch " + root + " 2")
	if text := s.delivered(2); !strings.HasPrefix(text, "## GO ON") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAQuestionThatWasHeldWhenTheSupervisorDiedIsNoticedAgainAndDeliveredOnce(t *testing.T) {
	s := begin(t, nil)
	s.asks("q-1", "Which database?")
	s.do(Noticed{Question: "q-1"})
	s.do(Opened{PID: 2, Policy: Ask})
	s.plans("notify q-1")
	s.do(Ended{Agent: root, Launch: 1, Outcome: "lost with its supervisor"})
	s.rests(true)
	s.is(checkpoints.Parked)
	s.answers("q-1", "SQLite")
	s.launches(2)
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
	s := begin(t, nil)
	s.do(Opened{PID: 2, Policy: Ask})
	s.do(Ended{Agent: root, Launch: 1, Outcome: "lost with its supervisor"})
	for _, d := range s.state.deliveries(root, waitsForReceipt) {
		s.do(Confirmed{UUID: d.UUID, Found: true})
	}
	s.do(Surveyed{Agent: root, Launch: 1, Whole: true, Unheard: []Named{s.clarification("q-1", "Which database?").Named}})
	s.is(checkpoints.Parked)
	s.answers("q-1", "SQLite")
	if text := s.delivered(2); strings.Contains(text, "## GO ON") || !strings.Contains(text, "A1: SQLite") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestWhatWasAnsweredWhileNobodyWasThereIsNotAskedAgain(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold, c.OnQuestion = 0, Park })
	s.asks("q-1", "Which database?")
	s.ends()
	s.rests(true)
	s.do(Noticed{Question: "q-1"})
	s.do(Left{})
	s.do(Opened{PID: 2, Policy: Ask, Notes: []Note{{Seq: 1, Kind: noteAnswer, Question: "q-1", Value: "SQLite", At: s.at}}})
	s.plansNot("notify")
	s.plans("launch " + root + " 2")
}

func TestADelegationIsDeniedAtTheEndOfTheTurn(t *testing.T) {
	s := begin(t, func(c *Config) { c.Delegate = Delegates{DenyDelegations} })
	s.do(Heard{Agent: root, Launch: 1, Named: Named{Signal: signals.Signal{
		Kind: signals.Delegate, AgentID: root, Fields: []signals.Field{{Name: "new_task_description", Value: "Refactor auth"}},
	}, Naming: Naming{IDs: []string{"q-1"}, Child: "a-child0000000"}}})
	s.turnEnds()
	if text := s.delivers(1).Text; !strings.Contains(text, "## DELEGATION DENIED") || !strings.Contains(text, "Reason:") || !strings.Contains(text, "Alternative:") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAWithdrawnRequestClosesItsQuestion(t *testing.T) {
	s := begin(t, nil)
	s.do(askUser("q-1"))
	s.do(AskCancelled{Agent: root, Launch: 1, Request: "req-1"})
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
	s.is(checkpoints.Running)
}

func TestStepLeavesTheOldStateAsItWas(t *testing.T) {
	s := begin(t, nil)
	before, agent := s.state, *s.state.Agents[root]
	s.do(s.clarification("q-1", "Which database?"))
	s.turnEnds()
	if len(before.Questions) != 0 || before.Agents[root].Status != agent.Status || !before.launch(root).Turn {
		t.Fatal("Step changed the state that it was given")
	}
}

// An answer that was accepted while a stop lay ahead of it in the inbox is not forgotten, though nobody hears it.
func TestAnAnswerBehindAStopIsKept(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold = 0 })
	s.asks("q-1", "Which database?")
	s.ends()
	s.rests(true)
	s.notes(Note{Kind: noteStop}, Note{Kind: noteAnswer, Question: "q-1", Value: "SQLite"})
	s.is(checkpoints.Stopped)
	s.answers("q-1", "PostgreSQL")
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionWithdrawn && q.State != checkpoints.QuestionAnswered || q.Answer != "SQLite" {
		t.Errorf("the question is %s, its answer %q", q.State, q.Answer)
	}
}
