package supervisor

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// asksInPlace begins a story in which calls of the agent, changed by change, ask and are parked and answered.
func asksInPlace(t *testing.T, version string, change func(*Asked), calls ...string) *Story {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: version})
	for i, name := range calls {
		id := "q-" + string(rune('1'+i))
		asked := Asked{Agent: Root, Launch: 1, Kind: questions.AskClarification, Beside: i < len(calls)-1,
			Naming: Naming{IDs: []string{id}}, Call: checkpoints.ToolCall{Launch: 1, Request: "r" + id, ToolUse: "toolu_" + id,
				Name: name, Line: "line-" + id, Input: json.RawMessage(`{"questions":[{"question":"Which?","options":` +
					`[{"label":"White"},{"label":"Black"}]}]}`)}}
		asked.Questions, _ = ask.UserQuestions(asked.Call.Input)
		asked.Call.Served = name != ask.AskUserQuestion && name != "Bash"
		change(&asked)
		s.Do(asked)
		s.is(checkpoints.Waiting)
		if parks := s.State.Launch(Root).End == endPark; parks && asked.Beside {
			t.Fatal("it parks, with a call at work beside the question")
		}
	}
	if len(calls) > 1 {
		s.Do(BusyElsewhere{Agent: Root, Launch: 1})
	}
	for _, q := range s.State.FindQuestions(s.State.momentDue) {
		s.Do(MomentKept{Question: q.ID, Moment: "moment-" + q.ID})
	}
	s.Ends()
	s.Rests(true)
	for i := range calls {
		s.Answers("q-"+string(rune('1'+i)), "Black")
	}
	return s
}

// first returns what launch 2 is to be told first.
func (s *Story) first() *Delivery {
	s.T.Helper()
	s.plans("launch " + Root + " 2")
	told := s.State.UnsentTo(Root, 2)
	if len(told) != 1 {
		s.T.Fatalf("it is told %d things", len(told))
	}
	return told[0]
}

func TestAParkedCallIsAnsweredByItsOwnResult(t *testing.T) {
	s := asksInPlace(t, "2.1.270", func(*Asked) {}, ask.AskUserQuestion, "ask_user")
	want := []checkpoints.CallResult{
		{ToolUse: "toolu_q-1", Text: `Your questions have been answered: "Which?"="Black". ` +
			`You can now continue with these answers in mind.`},
		{ToolUse: "toolu_q-2", Text: "Black", Served: true},
	}
	if got := s.first(); !reflect.DeepEqual(got.Results, want) || s.State.ResultsFor(Root, 2) != got {
		t.Fatalf("it is told %+v", got)
	}
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-2"})
	d := s.Delivers(2)
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.270"})
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	if q := s.State.Questions.Get("q-2"); q.State != checkpoints.QuestionDelivered || q.Remark != toldInPlace ||
		s.State.Launch(Root).At != "line-q-2" {
		t.Errorf("the question is %s (%s)", q.State, q.Remark)
	}
}

func TestWhatIsNoCallOfTheAgentsOwnIsRestated(t *testing.T) {
	own := func(*Asked) {}
	for name, c := range map[string]struct {
		version, call string
		change        func(*Asked)
	}{
		"on a release that drops open calls": {"2.1.260", ask.AskUserQuestion, own},
		"on no known release":                {"", ask.AskUserQuestion, own},
		"of an older release of ours":        {"2.1.332", ask.AskUserQuestion, func(e *Asked) { e.Call.Line = "" }},
		"of a subagent": {"2.1.332", ask.AskUserQuestion,
			func(e *Asked) { e.Call.From = &checkpoints.Subagent{ID: "s", ToolUse: "toolu_s", Depth: 1} }},
		"a permission": {"2.1.332", "Bash", func(e *Asked) {
			e.Kind, e.Questions[0].Options = questions.AskPermission, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := asksInPlace(t, c.version, c.change, c.call)
			if got := s.first(); got.Results != nil || got.Text == "" {
				t.Errorf("it is told %+v", got)
			}
		})
	}
}

// Whatever has it that the conversation is not continued at the call, the same delivery is made by a prompt, and counts
// as no failure.
func TestAnAnswerThatCannotBeGivenInPlaceIsRestated(t *testing.T) {
	gone := procs.Failure{Kind: procs.PlaceGone, Reason: "gone"}
	refused := procs.Failure{Kind: procs.HookRefused, Reason: "no"}
	for name, tell := range map[string]func(*Story){
		"by its transcript": func(s *Story) {
			s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, NotAt: "gone"})
		},
		"by the CLI": func(s *Story) {
			s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
			s.Do(TurnEnded{Agent: Root, Launch: 2, Failure: gone})
			s.Do(Ended{Agent: Root, Launch: 2, Outcome: "exit 1", Failure: gone})
			s.Rests(false)
			s.Do(Started{Agent: Root, Launch: 3, PID: 103, StartTicks: 3})
		},
		"by a hook of the person's own": func(s *Story) {
			s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
			d := s.Delivers(2)
			s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
			s.Do(TurnEnded{Agent: Root, Launch: 2, Failure: refused})
			if s.try(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered}) {
				s.T.Error("what was refused is delivered")
			}
			s.Ends()
			s.Rests(false)
			s.Do(Started{Agent: Root, Launch: 3, PID: 103, StartTicks: 3})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := asksInPlace(t, "2.1.332", func(*Asked) {}, ask.AskUserQuestion)
			uuid := s.first().UUID
			tell(s)
			l := s.State.Launch(Root)
			d := s.Delivers(l.N)
			if d.UUID != uuid || d.Results != nil || !strings.Contains(d.Text, "A1: Black") {
				t.Errorf("it is told %+v", d)
			}
			if not := s.State.Launches.Get(Root)[1]; not.NotAt == "" || s.State.Agents.Get(Root).Failures > 0 {
				t.Errorf("the launch is %+v", not)
			}
			if q := s.State.Questions.Get("q-1"); q.Remark != restated+": "+s.State.Launches.Get(Root)[1].NotAt {
				t.Errorf("the question says %q", q.Remark)
			}
		})
	}
}

// A hook that refuses results does so, whatever else the process is being ended for.
func TestResultsThatAreRefusedWhileTheProcessEndsAreNotTold(t *testing.T) {
	s := asksInPlace(t, "2.1.332", func(*Asked) {}, ask.AskUserQuestion)
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
	d := s.Delivers(2)
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	s.Do(InterruptAsked{By: "a test"})
	s.Do(TurnEnded{Agent: Root, Launch: 2, Failure: procs.Failure{Kind: procs.HookRefused, Reason: "no"}})
	if s.try(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered}) {
		t.Error("what was refused is delivered")
	}
	if d := s.State.Deliveries.Get(d.UUID); d.Results != nil || d.State == checkpoints.DeliveryDelivered {
		t.Errorf("it is %s, with %d results", d.State, len(d.Results))
	}
}

// A process that is killed in the turn of its results is told of them again where the conversation has nothing after
// them; else it is told to go on.
func TestResultsAreGivenAgainWhileNothingFollowsThem(t *testing.T) {
	for _, replied := range []bool{false, true} {
		s := asksInPlace(t, "2.1.332", func(*Asked) {}, ask.AskUserQuestion)
		s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
		first := s.Delivers(2)
		s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
		s.dies(procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "killed"})
		s.Rests(replied)
		s.Do(RetryDue{Agent: Root})
		told := s.State.UnsentTo(Root, 3)
		if len(told) != 1 || (told[0].UUID == first.UUID) == replied || (len(told[0].Results) > 0) == replied {
			t.Errorf("with a reply (%v) it is told %+v", replied, told)
		}
	}
}

// Where an answer costs no words after a park, a process is not held longer than its next start uses.
func TestAProcessIsHeldForLessWhereAParkCostsOnlyItsStart(t *testing.T) {
	shell := []checkpoints.Task{{Name: "shell: npm start"}}
	for name, c := range map[string]struct {
		version, tool string
		hold, want    time.Duration
		background    []checkpoints.Task
	}{
		"told in place":       {"2.1.332", ask.AskUserQuestion, 5 * time.Minute, 2 * time.Minute, nil},
		"by a tool of ours":   {"2.1.332", "ask_user", 5 * time.Minute, 2 * time.Minute, nil},
		"of a longer hold":    {"2.1.332", ask.AskUserQuestion, time.Hour, 24 * time.Minute, nil},
		"restated":            {"2.1.260", ask.AskUserQuestion, 5 * time.Minute, 5 * time.Minute, nil},
		"beside a server":     {"2.1.332", ask.AskUserQuestion, 5 * time.Minute, 5 * time.Minute, shell},
		"a call is permitted": {"2.1.332", "Bash", 5 * time.Minute, 5 * time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, func(cfg *conf.Config) { cfg.Hold = c.hold })
			s.Do(TurnBegun{Agent: Root, Launch: 1, Version: c.version})
			if c.background != nil {
				s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Background: c.background})
			}
			asked := Asked{Agent: Root, Launch: 1, Kind: questions.AskClarification, Naming: Naming{IDs: []string{"q-1"}},
				Call: checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_1", Name: c.tool, Line: "line-1",
					Served: c.tool == "ask_user", Input: json.RawMessage(`{"questions":[{"question":"Which?","options":` +
						`[{"label":"White"},{"label":"Black"}]}]}`)}}
			asked.Questions, _ = ask.UserQuestions(asked.Call.Input)
			s.Do(asked)
			s.is(checkpoints.Waiting)
			if hold, ends := s.State.Patience(Root); hold != c.want || !ends {
				t.Errorf("it is held for %v", hold)
			}
		})
	}
}
