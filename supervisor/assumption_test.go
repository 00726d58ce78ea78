package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
)

const whichDatabase = `{"wait":false,"assumption":"SQLite","affects":["schema.sql","/etc/passwd","../other"],` +
	`"questions":[{"text":"Which database?","options":[{"label":"PostgreSQL"},{"label":"SQLite"}]}]}`

// assumes is an agent that has asked q-1, and works on under its assumption.
func assumes(t *testing.T, change func(*conf.Config)) *Story {
	t.Helper()
	s := Begin(t, change)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	s.calls("r1", "ask_user", whichDatabase, nil, "q-1")
	return s
}

// looks plays the look for what was made under the assumption of q-1.
func (s *Story) looks(made ...string) {
	s.T.Helper()
	s.plans("prepare q-1")
	s.plansNot("deliver")
	s.Do(Prepared{Question: "q-1", Made: made, Unknown: "Deleted files are not listed."})
	s.plansNot("prepare")
}

func (s *Story) verdict(want questions.Verdict) {
	s.T.Helper()
	if got := questions.VerdictOf(s.State.Questions.Get("q-1")); got != want {
		s.T.Errorf("the assumption is %s, want %s", got, want)
	}
}

func TestAnAgentIsToldAtOnceThatItsQuestionIsAskedAndWorksOn(t *testing.T) {
	s := assumes(t, nil)
	r := s.reply("r1")
	if r.IsError || !strings.Contains(r.Text, "Asked as q-1. Go on under your assumption: SQLite") {
		t.Errorf("the call reads: %+v", r)
	}
	s.is(checkpoints.Running)
	s.plans("notify q-1")
	s.plansNot("hold")
	q := s.State.Questions.Get("q-1")
	if q.State != checkpoints.QuestionOpen || !slices.Equal(q.Assumed.Affects, []string{"schema.sql"}) ||
		strings.Count(q.Context, "outside of its folder") != 2 {
		t.Errorf("asked: %+v", q)
	}
	s.calls("r2", "ask_user", whichDatabase, nil, "q-2")
	if r := s.reply("r2"); r.IsError || !strings.Contains(r.Text, "Asked as q-1.") || s.State.Questions.Len() != 1 {
		t.Errorf("asked again, the call reads: %+v, with %d questions", r, s.State.Questions.Len())
	}
}

func TestAnAnswerGoesIntoTheTurnOfAnAgentThatWorksUnderItsAssumption(t *testing.T) {
	for answer, c := range map[string]struct {
		verdict questions.Verdict
		want    string
	}{
		"SQLite":     {questions.Confirmed, "You assumed: SQLite\n\n## RESUME INSTRUCTIONS\nThis confirms what you assumed."},
		"sqlite":     {questions.Confirmed, "This confirms what you assumed."},
		"PostgreSQL": {questions.Corrected, "This is not what you assumed."},
	} {
		t.Run(answer, func(t *testing.T) {
			s := assumes(t, nil)
			s.Answers("q-1", answer)
			s.verdict(c.verdict)
			if c.verdict == questions.Corrected {
				s.looks("schema.sql")
				c.want += " Look through what you made"
			}
			d := s.Delivers(1)
			if !d.Now || !strings.Contains(d.Text, "## CLARIFICATION RESPONSE") || !strings.Contains(d.Text, c.want) ||
				!strings.Contains(d.Text, "A1: "+answer) ||
				strings.Contains(d.Text, "- schema.sql") != (c.verdict == questions.Corrected) {
				t.Errorf("the agent reads:\n%s", d.Text)
			}
			s.is(checkpoints.Running)
			s.reports("success", "")
			s.turnEnds()
			if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
				t.Errorf("the question is %s", q.State)
			}
			s.Do(Checked{Agent: Root})
			s.Ends()
			s.is(checkpoints.Succeeded)
		})
	}
}

func TestSuccessIsBarredWhileAnAssumptionIsOpen(t *testing.T) {
	for name, hold := range map[string]bool{"held": true, "parked": false} {
		t.Run(name, func(t *testing.T) {
			s := assumes(t, func(c *conf.Config) {
				if !hold {
					c.Hold = 0
				}
			})
			s.reply("r1")
			s.reports("success", "schema.sql")
			s.turnEnds()
			s.is(checkpoints.Waiting)
			s.plansNot("check")
			if hold {
				s.plans("hold")
				s.Do(HoldEnded{Agent: Root, Launch: 1})
			}
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Parked)
			s.plansNot("launch")
			if code := s.State.ExitCode(); code != exit.Parked {
				t.Errorf("it leaves with %d", code)
			}
		})
	}
}

func TestAnAssumptionThatHoldsNeedsNoWordsWhereTheAgentHasReported(t *testing.T) {
	for name, leave := range map[string]func(*Story){
		"held":   func(*Story) {},
		"parked": func(s *Story) { s.Do(HoldEnded{Agent: Root, Launch: 1}); s.Ends(); s.Rests(true) },
		"killed": func(s *Story) { s.dies(crash()); s.is(checkpoints.Parked); s.Rests(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := assumes(t, nil)
			s.reply("r1")
			s.reports("success", "schema.sql")
			s.turnEnds()
			leave(s)
			s.Answers("q-1", "SQLite")
			s.plansNot("launch")
			s.plansNot("deliver")
			s.Do(Checked{Agent: Root})
			if name == "held" {
				s.Ends()
			}
			s.is(checkpoints.Succeeded)
			s.verdict(questions.Confirmed)
		})
	}
}

func TestAReportUnderAnAssumptionThatIsWrongCountsNoMore(t *testing.T) {
	s := assumes(t, nil)
	s.reply("r1")
	s.reports("success", "schema.sql")
	s.turnEnds()
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "PostgreSQL")
	s.looks("schema.sql")
	s.plans("launch " + Root + " 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	d := s.Delivers(2)
	if d.Now || !strings.Contains(d.Text, "report again") || !strings.Contains(d.Text, "- schema.sql") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	if s.State.Agents.Get(Root).Report != nil {
		t.Error("the report stands")
	}
	s.Do(GateAsked{Agent: Root, Launch: 2, Request: "g1"})
	if s.State.Launch(Root).Gate.Block == "" {
		t.Error("its turn may end without another")
	}
}

func TestAnAnswerInTheMomentOfTheReportIsNotLost(t *testing.T) {
	for name, first := range map[string]bool{"before it": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			s := assumes(t, nil)
			s.reply("r1")
			if first {
				s.Answers("q-1", "PostgreSQL")
				s.reports("success", "")
			} else {
				s.reports("success", "")
				s.Answers("q-1", "PostgreSQL")
			}
			s.Do(TurnEnded{Agent: Root, Launch: 1})
			s.looks()
			if d := s.Delivers(1); !strings.Contains(d.Text, "This is not what you assumed") {
				t.Errorf("the agent reads:\n%s", d.Text)
			}
			s.is(checkpoints.Running)
		})
	}
}

func TestAnAnswerThatWasOnItsWayIsLookedForBeforeItIsSaidAgain(t *testing.T) {
	for name, found := range map[string]bool{"it had arrived": true, "it had not": false} {
		t.Run(name, func(t *testing.T) {
			s := assumes(t, nil)
			s.reply("r1")
			s.Answers("q-1", "SQLite")
			d := s.Delivers(1)
			s.dies(crash())
			s.plans("confirm " + d.UUID)
			s.Do(Confirmed{UUID: d.UUID, Found: found})
			s.Rests(true)
			s.Do(RetryDue{Agent: Root})
			s.plans("launch " + Root + " 2")
			s.Do(Started{Agent: Root, Launch: 2, PID: 102})
			again := s.Delivers(2)
			if told := strings.Contains(again.Text, "This confirms what you assumed"); told == found {
				t.Errorf("it goes on with:\n%s", again.Text)
			}
		})
	}
}

func TestAnAgentThatIsKilledAtItsWorkGoesOnUnderItsAssumption(t *testing.T) {
	s := assumes(t, nil)
	s.dies(crash())
	s.Rests(true)
	s.Do(RetryDue{Agent: Root})
	s.plans("launch " + Root + " 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	if d := s.Delivers(2); !strings.Contains(d.Text, "## GO ON") {
		t.Errorf("it goes on with:\n%s", d.Text)
	}
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	s.calls("r9", "ask_user", whichDatabase, nil, "q-2")
	if r := s.reply("r9"); !strings.Contains(r.Text, "q-1") || s.State.Questions.Len() != 1 {
		t.Errorf("asked again after the kill, the call reads %q, with %d questions", r.Text, s.State.Questions.Len())
	}
}

func TestAnAgentThatEndsItsTurnUnderAnAssumptionIsSentOn(t *testing.T) {
	s := assumes(t, nil)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if block := s.State.Launch(Root).Gate.Block; !strings.Contains(block, "q-1 is asked and does not stop the work") {
		t.Errorf("its turn ends with: %q", block)
	}
}

func TestAnAnswerThatAHookRefusesIsSaidAfterTheTurnUnderAnotherID(t *testing.T) {
	s := assumes(t, nil)
	s.Answers("q-1", "SQLite")
	d := s.Delivers(1)
	s.Do(PromptRefused{UUID: d.UUID, Reason: "no"})
	s.plansNot("deliver")
	s.turnEnds()
	again := s.Delivers(1)
	if again.UUID == d.UUID || again.Now || !strings.Contains(again.Text, "This confirms") {
		t.Errorf("said again as %s (before: %s): %+v", again.UUID, d.UUID, again)
	}
}

func TestAChangedAnswerIsJudgedAnew(t *testing.T) {
	s := assumes(t, func(c *conf.Config) { c.Hold = 0 })
	s.turnEnds() // without a gate: an old release
	s.Ends()
	s.Do(Answered(s, "q-1", EntryAnswer, "PostgreSQL"))
	s.Do(Answered(s, "q-1", EntryChange, "SQLite"))
	s.plansNot("prepare")
	s.verdict(questions.Confirmed)
	s.Rests(true)
	s.plans("launch " + Root + " 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102})
	if d := s.Delivers(2); !strings.Contains(d.Text, "A1: SQLite") || strings.Contains(d.Text, "PostgreSQL\nYou") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}

// Answered is one note of a person.
func Answered(s *Story, id, kind, value string) InboxRead {
	return InboxRead{Notes: []InboxEntry{{Kind: kind, Question: id, Value: value, By: "a test", At: s.At,
		Seq: s.State.Taken + 1}}}
}

func TestAnAnswerInAdvanceIsTheResultOfTheCall(t *testing.T) {
	s := Begin(t, nil)
	sig, _ := signals.Served("ask_user", []byte(whichDatabase))
	s.Do(Called{Agent: Root, Launch: 1,
		Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-1"}, Presets: []conf.Preset{{Key: "Q1", Value: "PostgreSQL"}}}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_r1", Name: "ask_user", Served: true,
			Input: []byte(whichDatabase)}})
	if got := s.returned(); !strings.Contains(got, "A1: PostgreSQL\n\nAssume nothing") {
		t.Errorf("the call returns %q", got)
	}
}

func TestACallThatGoesOnNeedsOneQuestionAndAnAssumption(t *testing.T) {
	for name, input := range map[string]string{
		"no assumption": `{"wait":false,"questions":[{"text":"Which?"}]}`,
		"an empty one":  `{"wait":false,"assumption":" \n","questions":[{"text":"Which?"}]}`,
		"two questions": `{"wait":false,"assumption":"this","questions":[{"text":"Which?"},{"text":"When?"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.calls("r1", "ask_user", input, nil, "q-1", "q-2")
			if r := s.reply("r1"); !r.IsError || !strings.Contains(r.Text, "Nobody was asked") || s.State.Questions.Len() > 0 {
				t.Errorf("the call reads %+v, with %d questions", r, s.State.Questions.Len())
			}
		})
	}
}

func TestABlockThatDoesNotStopTheWork(t *testing.T) {
	block := func(s *Story) {
		sig := s.clarification("q-1", "Which database?")
		sig.Signal.Fields = append(sig.Signal.Fields, signals.Field{Name: "blocking", Value: "false"})
		sig.Signal.Questions[0].Assumption = "SQLite"
		s.Do(sig)
	}
	t.Run("goes on", func(t *testing.T) {
		s := Begin(t, nil)
		s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
		block(s)
		s.is(checkpoints.Running)
		s.Answers("q-1", "SQLite")
		if d := s.Delivers(1); !d.Now {
			t.Errorf("the answer waits for the end of the turn: %+v", d)
		}
	})
	t.Run("waits under --exec", func(t *testing.T) {
		s := &Story{T: t}
		s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose",
			Config: conf.Config{Exec: []string{"/bin/agent"}, MaxHeld: -1}})
		s.Do(Opened{PID: 1, Policy: conf.Ask})
		t.Cleanup(s.folds)
		s.starts(1)
		block(s)
		q := s.State.Questions.Get("q-1")
		if q.Assumed != nil || !strings.Contains(q.Context, "nothing can be said to it at its work: it waits") {
			t.Errorf("asked: %+v", q)
		}
	})
}

func TestQuestionsAreRefusedAlsoWhereTheyDoNotStopTheWork(t *testing.T) {
	s := assumes(t, func(c *conf.Config) { c.OnQuestion = conf.Fail })
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
}

func TestASubagentsAssumptionIsAnsweredToItsAgent(t *testing.T) {
	s := Begin(t, nil)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	s.calls("r1", "ask_user", whichDatabase, &checkpoints.Subagent{ID: "a0123456789abcdef", Type: "Explore"}, "q-1")
	s.reply("r1")
	s.Answers("q-1", "SQLite")
	if d := s.Delivers(1); !d.Now || !strings.Contains(d.Text, `to "a0123456789abcdef"`) ||
		!strings.Contains(d.Text, "works on under an assumption") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}

func TestAnotherAnswerKeepsItsPlaceBesideThatToAnAssumption(t *testing.T) {
	s := assumes(t, func(c *conf.Config) { c.Hold = 0 })
	s.reply("r1")
	sig, _ := signals.Served("ask_user", []byte(`{"questions":[{"text":"When?"}]}`))
	s.Do(Called{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-2"}}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r2", ToolUse: "t2", Name: "ask_user", Served: true, Line: "l2",
			Input: []byte("{}")}})
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Parked)
	s.Answers("q-1", "SQLite")
	s.plansNot("launch") // the other blocks
	s.Answers("q-2", "now")
	s.Do(MomentKept{Question: "q-2", Moment: "moment-q-2"})
	s.plans("launch " + Root + " 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, At: "l2"})
	if d := s.Delivers(2); len(d.Results) != 1 || d.Results[0].Text != "now" {
		t.Fatalf("it begins with %+v", d)
	}
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	if d := s.Delivers(2); !d.Now || !strings.Contains(d.Text, "This confirms") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}

func TestManyAgentsThatAskTheSameCanHaveOneAnswer(t *testing.T) {
	s := assumes(t, nil)
	for i := range 9 {
		s.calls(fmt.Sprintf("r2%d", i), "ask_user", strings.Replace(whichDatabase, "etc", fmt.Sprint("etc", i), 1), nil,
			fmt.Sprintf("q-1%d", i))
	}
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "SQLite", AllLike: true})
	if open := s.State.Assuming(Root); len(open) > 0 {
		t.Errorf("%d of 10 stay open", len(open))
	}
	s.reply("r1")
	if d := s.Delivers(1); strings.Count(d.Text, "## CLARIFICATION RESPONSE") != 10 { // all in one message
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}
