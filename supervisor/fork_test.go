package supervisor

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/task"
)

// answeredInPlace is a story whose question, asked by a call, has its answer.
func answeredInPlace(t *testing.T, change func(*Asked)) *Story {
	s := asksInPlace(t, "2.1.332", change, ask.AskUserQuestion)
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
	d := s.Delivers(2)
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	return s
}

// A fork is what the run would be had it been parked at the question, and its answer is the other one.
func TestAForkBeginsAsAParkedRunWithTheOtherAnswer(t *testing.T) {
	origin := answeredInPlace(t, func(*Asked) {})
	f, err := origin.State.Fork("q-1")
	if err != nil {
		t.Fatal(err)
	}
	f.Answer, f.By = "White", "a person"
	f.Questions[0].ID = "q-2"
	task := origin.State.ForkTask(f)
	s := &Story{T: t, At: origin.At}
	s.Do(Created{Run: "r-2", Cwd: task.Cwd, Agent: "a-forkforkfork", Task: task.Prompt, Config: task.Config, Fork: &f})
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.plans("place a-forkforkfork")
	w := *s.State.Agents.Get("a-forkforkfork").Worktree
	if w.Moment == nil || w.Moment.ID != "moment-q-1" || w.Moment.Run != origin.State.Run.ID {
		t.Fatalf("its worktree is %+v", w)
	}
	w.State, w.Path = checkpoints.WorktreeMade, "/trees/a"
	s.Do(Placed{Agent: "a-forkforkfork", Cwd: "/trees/a", Worktree: &w})
	s.plans("launch a-forkforkfork 2")
	l := s.State.Launch("a-forkforkfork")
	told := s.State.ResultsFor("a-forkforkfork", 2)
	if !l.Resume || told == nil || told.Results[0].ToolUse != "toolu_q-1" ||
		!strings.Contains(told.Results[0].Text, `"Which?"="White"`) || !strings.Contains(told.Results[0].Text, "/trees/a") {
		t.Fatalf("launch %+v is told %+v", l, told)
	}
	if _, err := s.State.Fork("q-2"); err == nil || !strings.Contains(err.Error(), "answer q-1 again") {
		t.Errorf("its first question is asked again: %v", err)
	}
}

func TestAForkWithoutAWorktreeOfItsOwnFails(t *testing.T) {
	f, err := answeredInPlace(t, func(*Asked) {}).State.Fork("q-1")
	if err != nil {
		t.Fatal(err)
	}
	f.Answer = "White"
	for name, placed := range map[string]Placed{
		"no worktree":     {Worktree: &checkpoints.Worktree{State: checkpoints.WorktreeNone, Problem: "the disk is full"}},
		"no conversation": {Worktree: &checkpoints.Worktree{State: checkpoints.WorktreeMade}, Unforked: "the disk is full"},
	} {
		s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
		s.Do(Created{Run: "r-2", Cwd: "/work", Agent: Root, Task: "x", Fork: &f})
		s.Do(Opened{PID: 2, Policy: conf.Ask})
		placed.Agent = Root
		s.Do(placed)
		a := s.State.Agents.Get(Root)
		if a.Status != checkpoints.Failed || !strings.Contains(a.Reason, "the disk is full") || a.Placed {
			t.Errorf("%s: it is %s: %s", name, a.Status, a.Reason)
		}
	}
}

// A fork that is unpacked before it had its worktree has nothing to go on in: never in the folder of another run, nor
// in one that is made of it now.
func TestAForkThatIsUnpackedBeforeItHadAWorktreeFails(t *testing.T) {
	f, err := answeredInPlace(t, func(*Asked) {}).State.Fork("q-1")
	if err != nil {
		t.Fatal(err)
	}
	f.Answer = "White"
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	s.Do(Created{Run: "r-2", Cwd: "/work", Agent: Root, Task: "x", Config: conf.Config{Worktree: true}, Fork: &f})
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Unpacked{From: "/work", Cwd: "/there", Config: s.State.Config})
	for _, again := range []bool{false, true} {
		s.Do(Opened{PID: 3, Policy: conf.Ask, Failed: again})
		if !again {
			s.Do(MomentKept{Question: "q-1", Problem: "it is no work tree"})
		}
		s.plans("place " + Root)
		s.Do(Placed{Agent: Root})
		if a := s.State.Agents.Get(Root); a.Status != checkpoints.Failed || !strings.Contains(a.Reason,
			"did not come along") ||
			a.Worktree != nil {
			t.Errorf("tried again (%v) it is %s: %s, in %+v", again, a.Status, a.Reason, a.Worktree)
		}
	}
}

func TestWhatIsNeverAnsweredDifferently(t *testing.T) {
	for why, change := range map[string]func(*Question){
		"has let something happen": func(q *Question) { q.Kind = questions.AskPermission },
		"a subagent has asked it": func(q *Question) {
			q.Tool.From = &checkpoints.Subagent{ID: "s", ToolUse: "toolu_s", Depth: 1}
		},
		"not asked by a call":      func(q *Question) { q.Tool = nil },
		"no answer to it yet":      func(q *Question) { q.State = checkpoints.QuestionOpen },
		"--change replaces it":     func(q *Question) { q.State = checkpoints.QuestionAnswered },
		"withdrawn":                func(q *Question) { q.State = checkpoints.QuestionWithdrawn },
		"work in the background":   func(q *Question) { q.Moment, q.NoMoment = "", "it had work in the background then" },
		"an older release has ask": func(q *Question) { q.Moment = "" },
	} {
		s := answeredInPlace(t, func(*Asked) {}).State
		q := *s.Questions.Get("q-1")
		call := *q.Tool
		q.Tool = &call
		change(&q)
		s.Questions = table.Of(map[string]*Question{q.ID: &q})
		if _, err := s.Fork("q-1"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// What an agent had at work beside its question no fork has.
func TestTheWorkIsNotKeptWhileSomethingElseIsAtWork(t *testing.T) {
	s := Begin(t, nil)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: []checkpoints.Task{{ID: "b", Name: "a build"}}})
	asked := Asked{Agent: Root, Launch: 1, Kind: questions.AskClarification, Naming: Naming{IDs: []string{"q-1"}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r", ToolUse: "t", Name: ask.AskUserQuestion, Line: "line",
			Input: []byte(`{"questions":[{"question":"Which?","options":[{"label":"White"},{"label":"Black"}]}]}`)}}
	asked.Questions, _ = ask.UserQuestions(asked.Call.Input)
	s.Do(asked)
	s.plans("moment q-1")
	s.Do(MomentKept{Question: "q-1", Moment: "m"})
	if q := s.State.Questions.Get("q-1"); q.Moment != "" || q.NoMoment == "" {
		t.Errorf("it is kept as %q (%s)", q.Moment, q.NoMoment)
	}
}

// A run that takes up a session is one that was parked at its questions.
func TestARunThatTakesUpASessionIsParkedAtItsQuestions(t *testing.T) {
	call := checkpoints.ToolCall{ToolUse: "t1", Name: "AskUserQuestion", Line: "u1", Input: json.RawMessage(`{"questions":[]}`)}
	asked := checkpoints.Question{ID: "q-one", State: checkpoints.QuestionOpen}
	asked.Kind, asked.Text, asked.Tool = questions.AskClarification, "Which?", &call
	session := &task.Session{ID: "s", Version: "2.1.332", Questions: []checkpoints.Question{asked}}
	created := Created{Run: "r-1", Agent: "a-1", Task: "go", TakesUp: session}
	s, err := Step(State{}, Happened{At: time.Unix(1, 0), Event: created})
	if err != nil {
		t.Fatal(err)
	}
	a, q := s.Agents.Get("a-1"), s.Questions.Get("q-one")
	if a.SessionID != "s" || a.Status != checkpoints.Parked || s.Run.Status != checkpoints.Parked ||
		q.State != checkpoints.QuestionOpen || q.Tool.Launch != 1 || call.Launch != 0 || session.Questions[0].Run != "" {
		t.Errorf("it is %+v of %+v, and asks %+v", s.Run, a, q)
	}
	if s, err = Step(s, Happened{At: time.Unix(2, 0), Event: Opened{PID: 1}}); err != nil {
		t.Fatal(err)
	}
	if s.Agents.Get("a-1").Status.Ended() || len(s.Launches.Get("a-1")) != 1 {
		t.Errorf("unanswered it is %+v", s.Agents.Get("a-1"))
	}
}
