package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

func TestAnAgentThatReportsSucceeds(t *testing.T) {
	s := Begin(t, nil)
	s.is(checkpoints.Running)
	s.reports("success", "")
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if g := s.State.Launch(Root).Gate; g == nil || g.Block != "" {
		t.Fatalf("the gate holds a reported agent: %+v", g)
	}
	s.plans("gate g1")
	s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
	s.turnEnds()
	s.plans("check " + Root)
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	s.exits(exit.Success)
	if got := s.keys(); len(got) != 1 || got[0] != "leave" {
		t.Fatalf("after the end the plan is %q", got)
	}
	s.Do(Left{})
	if got := s.keys(); len(got) != 0 {
		t.Fatalf("after leaving the plan is %q", got)
	}
}

func TestAnAnswerWithinTheHoldGoesIntoTheSameProcess(t *testing.T) {
	s := Begin(t, nil)
	s.Do(s.clarification("q-1", "Which database?"))
	s.is(checkpoints.Running) // a signal takes effect when the turn ends, but is shown at once
	s.plans("notify q-1")
	s.Do(NotificationSent{Question: "q-1"})
	s.plansNot("notify")
	s.turnEnds()
	s.is(checkpoints.Waiting)
	s.plans("hold " + Root)
	s.Answers("q-1", "PostgreSQL")
	s.plansNot("hold")
	d := s.Delivers(1)
	if !strings.Contains(d.Text, "## CLARIFICATION RESPONSE") || !strings.Contains(d.Text, "A1: PostgreSQL") ||
		!strings.Contains(d.Text, "Q1: Which database?") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.reports("success", "")
	s.turnEnds()
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Fatalf("the question is %s", q.State)
	}
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	if n := s.State.Agents.Get(Root).Launches; n != 1 {
		t.Fatalf("%d launches", n)
	}
}

func TestAfterTheHoldTheAgentIsParkedAndTheAnswerRelaunchesIt(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Do(NotificationSent{Question: "q-1"})
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Parked)
	if got := s.keys(); len(got) != 0 {
		t.Fatalf("a parked agent under --on-question ask has the plan %q", got)
	}
	s.Answers("q-1", "SQLite")
	if l := s.State.Launch(Root); l.N != 2 || !l.Resume {
		t.Fatalf("launch %+v does not resume the conversation", l)
	}
	s.Launches(2)
	s.reports("success", "")
	s.turnEnds()
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	if got := s.prompts(); len(got) != 2 || strings.Contains(got[1], "EXECUTION CONTEXT") {
		t.Fatalf("the agent was told %d things: %q", len(got), got)
	}
}

func TestWithoutAHoldTheAgentIsParkedAtOnce(t *testing.T) {
	for name, change := range map[string]func(*conf.Config){
		"--hold 0":     func(c *conf.Config) { c.Hold = 0 },
		"--max-held 0": func(c *conf.Config) { c.MaxHeld = 0; c.Hold = conf.Forever },
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, change)
			s.Asks("q-1", "Which database?")
			s.plans("end " + Root)
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Parked)
		})
	}
}

func TestAHoldForeverNeverEnds(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = conf.Forever })
	s.Asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	s.plansNot("hold")
	s.plansNot("end")
}

func TestUnderTheParkPolicyTheSupervisorLeavesWith75AndAnAnswerMeanwhileKeepsIt(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.OnQuestion = 0, conf.Park })
	s.Asks("q-1", "Which database?")
	s.Ends()
	s.Rests(true)
	s.plansNot("leave") // the notice comes first
	s.Do(NotificationSent{Question: "q-1"})
	s.plans("leave")
	s.exits(exit.Parked)
	s.Answers("q-1", "SQLite")
	s.plansNot("leave")
	s.plans("launch")
}

func TestUnderTheFailPolicyAQuestionFailsTheAgent(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.OnQuestion = conf.Fail })
	s.Do(s.clarification("q-1", "Which database?"))
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
	s.exits(exit.Failed)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
}

func TestUnderTheFailPolicyAQuestionThatWasOpenIsRefusedToo(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold, c.OnQuestion = 0, conf.Park })
	s.Asks("q-1", "Which database?")
	s.Ends()
	s.Rests(true)
	s.Do(NotificationSent{Question: "q-1"})
	s.Do(Left{})
	s.Do(Opened{PID: 2, Policy: conf.Fail, Revive: true})
	s.is(checkpoints.Failed)
}

func TestAnAnswerGivenInAdvanceIsTaken(t *testing.T) {
	s := Begin(t, nil)
	h := s.clarification("q-1", "Which database?")
	h.Presets = []conf.Preset{{Key: "database", Value: "SQLite"}}
	s.Do(h)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionAnswered || q.AnsweredBy != "--answer database" {
		t.Fatalf("the question is %s, by %q", q.State, q.AnsweredBy)
	}
	s.plansNot("notify")
}

func TestAnAnswerWhileTheProcessIsParkedIsNotLost(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.Answers("q-1", "SQLite")
	s.plansNot("deliver")
	s.Ends()
	s.Rests(true)
	s.plans("launch " + Root + " 2")
}

func TestTheFirstAnswerStandsUntilItIsChangedBeforeItsDelivery(t *testing.T) {
	s := Begin(t, nil)
	s.Do(s.clarification("q-1", "Which database?"))
	s.Answers("q-1", "SQLite")
	s.Answers("q-1", "MySQL")
	if q := s.State.Questions.Get("q-1"); q.Answer != "SQLite" {
		t.Fatalf("a second answer was taken: %q", q.Answer)
	}
	s.Notes(InboxEntry{Kind: EntryChange, Question: "q-1", Value: "MySQL"})
	s.turnEnds()
	if d := s.Delivers(1); !strings.Contains(d.Text, "A1: MySQL") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.Notes(InboxEntry{Kind: EntryChange, Question: "q-1", Value: "SQLite"})
	if q := s.State.Questions.Get("q-1"); q.Answer != "MySQL" {
		t.Fatalf("an answer was changed on its way: %q", q.Answer)
	}
}

func TestAnAnswerAndItsChangeThatLieTogetherAreOneAnswer(t *testing.T) {
	s := Begin(t, nil)
	s.Do(askUser("q-1"))
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "SQLite"},
		InboxEntry{Kind: EntryChange, Question: "q-1", Value: "MySQL"})
	if d := s.Delivers(1); !strings.Contains(string(d.Reply), `"Which database?":"MySQL"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
}

func TestTheSameSignalIsOneQuestionUntilItsAnswerIsDelivered(t *testing.T) {
	s := Begin(t, nil)
	s.Do(s.clarification("q-1", "Which database?"))
	if s.try(s.clarification("q-2", "Which database?")) {
		t.Fatal("the same signal opened a second question")
	}
	s.turnEnds()
	s.Answers("q-1", "SQLite")
	s.Delivers(1)
	s.turnEnds()
	s.is(checkpoints.Running) // it ended without a report and is being finished
}

func TestQuestionsOfOneSignalAreDeliveredTogether(t *testing.T) {
	s := Begin(t, nil)
	h := s.clarification("q-1", "Which database?")
	h.Signal.Questions = append(h.Signal.Questions, signals.Question{ID: "Q2", Text: "Which version?"})
	h.IDs, h.Presets = []string{"q-1", "q-2"}, nil
	s.Do(h)
	s.turnEnds()
	s.Answers("q-2", "17")
	s.is(checkpoints.Waiting)
	s.plansNot("deliver")
	s.Answers("q-1", "PostgreSQL")
	if d := s.Delivers(1); !strings.Contains(d.Text, "A1: PostgreSQL") || !strings.Contains(d.Text, "A2: 17") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
}

func TestTheGateSendsAnAgentWithoutAReportOnOnce(t *testing.T) {
	s := Begin(t, nil)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if g := s.State.Launch(Root).Gate; !strings.Contains(g.Block, "[COMPLETION_REPORT]") {
		t.Fatalf("the gate says %q", g.Block)
	}
	s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g2"})
	if g := s.State.Launch(Root).Gate; g.Block != "" {
		t.Fatalf("the gate sends it on again: %q", g.Block)
	}
	s.turnEnds()
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Unreported)
	s.exits(exit.Unreported)
}

// Cut short, the turn in which it was to report has not been one.
func TestTheGateSendsAnAgentOnAnewWhoseTurnWasCutShort(t *testing.T) {
	s := Begin(t, nil)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
	s.dies(procs.Failure{})
	s.Rests(true)
	s.startsWork(Root)
	s.Do(GateAsked{Agent: Root, Launch: 2, Request: "g1"})
	if g := s.State.Launch(Root).Gate; !strings.Contains(g.Block, "[COMPLETION_REPORT]") {
		t.Fatalf("the gate says %q", g.Block)
	}
}

func TestTheGateLetsATurnEndThatAsksOrStillWorks(t *testing.T) {
	for name, prepare := range map[string]func(*Story, *GateAsked){
		"an open question":              func(s *Story, _ *GateAsked) { s.Do(s.clarification("q-1", "Which?")) },
		"a question that ends the turn": func(_ *Story, g *GateAsked) { g.Ask = true },
		"a report that ends the turn":   func(_ *Story, g *GateAsked) { g.Report = true },
		"background work": func(_ *Story,
			g *GateAsked) {
			g.Background = []checkpoints.Task{{Name: "shell: make test"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			g := GateAsked{Agent: Root, Launch: 1, Request: "g1"}
			prepare(s, &g)
			s.Do(g)
			if block := s.State.Launch(Root).Gate.Block; block != "" {
				t.Fatalf("the gate says %q", block)
			}
		})
	}
}

func TestNoSuccessWhileBackgroundWorkLives(t *testing.T) {
	s := Begin(t, nil)
	s.reports("success", "")
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Background: []checkpoints.Task{{Name: "shell: make test"}}})
	s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
	s.turnEnds()
	s.is(checkpoints.Blocked)
	s.plansNot("end")
	s.plansNot("check")
	s.Do(BackgroundChanged{Agent: Root, Launch: 1})
	s.Do(TurnBegun{Agent: Root, Launch: 1}) // the CLI begins it by itself
	s.is(checkpoints.Running)
	s.turnEnds()
	s.plans("check")
}

func TestAMissingDeliverableIsToldOnceAndThenThePartialSuccessStands(t *testing.T) {
	s := Begin(t, nil)
	s.reports("success", "- report.md")
	s.turnEnds()
	missing := Checked{Agent: Root, Missing: []string{"report.md"}}
	saysMissing := func(want int) {
		t.Helper()
		before := s.State
		s.Do(missing)
		for _, n := range Notifications(before, s.State, s.Events[len(s.Events)-1]) {
			if n.Type == notice.Reported && len(n.Missing) != want {
				t.Errorf("the person reads that %q are missing", n.Missing)
			}
		}
	}
	saysMissing(1)
	if d := s.Delivers(1); !strings.Contains(d.Text, "## DELIVERABLES MISSING") ||
		!strings.Contains(d.Text, "report.md") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.reports("success", "- report.md")
	s.turnEnds()
	saysMissing(0) // the reason of the end says it
	s.Ends()
	s.is(checkpoints.Partial)
	s.exits(exit.Partial)
}

func TestEachReportedStatusHasItsExitCode(t *testing.T) {
	for status, want := range map[string]int{"success": exit.Success, "partial_success": exit.Partial,
		"failed": exit.Failed, "sort of": exit.Partial} {
		t.Run(status, func(t *testing.T) {
			s := Begin(t, nil)
			s.reports(status, "")
			s.turnEnds()
			s.Do(Checked{Agent: Root})
			s.Ends()
			s.exits(want)
		})
	}
}

func TestAStopEndsTheAgentWithItsQuestionWithdrawn(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which database?")
	s.Notes(InboxEntry{Kind: EntryStop})
	s.is(checkpoints.Stopping)
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Stopped)
	s.exits(exit.Stopped)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
	s.Answers("q-1", "SQLite") // accepted before the stop was taken, so kept; nobody hears it
	s.is(checkpoints.Stopped)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn || q.Delivering || q.Answer != "SQLite" {
		t.Fatalf("the question is %s, its answer %q", q.State, q.Answer)
	}
	if len(s.State.Agents.Get(Root).Outbox) > 0 {
		t.Fatal("a withdrawn question's answer is to be said")
	}
}

func TestAStopEndsWhatAnAgentStartedUnlessOnlyItIsMeant(t *testing.T) {
	for only, want := range map[bool]int{false: 3, true: 1} {
		s := Begin(t, nil)
		d := NewTransition(s.State, s.At)
		d.spawn(task.Child{Agent: "a-child0000000", Parent: Root})
		d.spawn(task.Child{Agent: "a-grandchild00", Parent: "a-child0000000"})
		next, err := Step(d.State,
			Happened{At: s.At, Event: InboxRead{Notes: []InboxEntry{{Kind: EntryStop, Agent: Root, Only: only,
				By: "a test"}}}})
		if err != nil {
			t.Fatal(err)
		}
		stopped := 0
		for a := range next.Agents.Values() {
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
			s := Begin(t, nil)
			want := checkpoints.Interrupted
			if asks {
				s.Asks("q-1", "Which database?")
				s.Do(NotificationSent{Question: "q-1"})
				want = checkpoints.Parked
			}
			s.Do(InterruptAsked{By: "interrupt"})
			s.Ends()
			s.Rests(true)
			s.is(want)
			s.plans("leave")
			s.Do(Left{})
			if code := ExitCodeOf(s.State); code != exit.Interrupted {
				t.Fatalf("exit code %d", code)
			}
			s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true})
			if !asks {
				s.plans("launch " + Root + " 2")
			}
		})
	}
}

func TestADelegationIsDeniedAtTheEndOfTheTurn(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.DenyDelegations} })
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: signals.Signal{
		Kind: signals.Delegate, AgentID: Root,
		Fields: []signals.Field{{Name: "new_task_description", Value: "Refactor auth"}},
	}, Naming: Naming{IDs: []string{"q-1"}, Child: "a-child0000000"}}})
	s.turnEnds()
	if text := s.Delivers(1).Text; !strings.Contains(text, "## DELEGATION DENIED") ||
		!strings.Contains(text, "Reason:") || !strings.Contains(text, "Alternative:") {
		t.Fatalf("the agent reads:\n%s", text)
	}
}

func TestAWithdrawnRequestClosesItsQuestion(t *testing.T) {
	s := Begin(t, nil)
	s.Do(askUser("q-1"))
	s.Do(AskCancelled{Agent: Root, Launch: 1, Request: "req-1"})
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn {
		t.Fatalf("the question is %s", q.State)
	}
	s.is(checkpoints.Running)
}

func TestStepLeavesTheOldStateAsItWas(t *testing.T) {
	s := Begin(t, nil)
	before, agent := s.State, *s.State.Agents.Get(Root)
	s.Do(s.clarification("q-1", "Which database?"))
	s.turnEnds()
	if before.Questions.Len() != 0 || before.Agents.Get(Root).Status != agent.Status || !before.Launch(Root).Phase.InTurn() {
		t.Fatal("Step changed the state that it was given")
	}
}

// An answer that was accepted while a stop lay ahead of it in the inbox is not forgotten, though nobody hears it.
func TestAnAnswerBehindAStopIsKept(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.Asks("q-1", "Which database?")
	s.Ends()
	s.Rests(true)
	s.Notes(InboxEntry{Kind: EntryStop}, InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "SQLite"})
	s.is(checkpoints.Stopped)
	s.Answers("q-1", "PostgreSQL")
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn &&
		q.State != checkpoints.QuestionAnswered || q.Answer != "SQLite" {
		t.Errorf("the question is %s, its answer %q", q.State, q.Answer)
	}
}
