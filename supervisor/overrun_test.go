package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
)

// overrunning tells of an agent at work that takes longer than its estimate. Question q-1 is about it, if it is asked.
func overrunning(t *testing.T, policy conf.OnQuestion) *Story {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "All of it", Estimated: "1h",
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume}})
	s.Do(Opened{PID: 1, Policy: policy})
	t.Cleanup(s.folds)
	s.Launches(1)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
	s.Do(Overdue{Agent: Root, Naming: Naming{IDs: []string{"q-1"}}})
	return s
}

func TestAPersonIsAskedWhatBecomesOfWorkThatTakesTooLong(t *testing.T) {
	for answer, want := range map[string]string{
		"continue":               "",
		"reduce: the old files":  "longer than your estimate of 1h0m0s. Reduce the scope: the old files\nSay in your report",
		"reduce":                 "leave out what matters least",
		"delegate":               "Delegate what is left to new agents (delegate_work)",
		"look at src/ only once": "look at src/ only once",
	} {
		t.Run(answer, func(t *testing.T) {
			s := overrunning(t, conf.Ask)
			q := s.State.Questions.Get("q-1")
			if q.Kind != questions.AskOverrun || len(q.Options) != 4 || !strings.Contains(q.Text, "1h0m0s") {
				t.Fatalf("asked: %+v", q)
			}
			s.is(checkpoints.Running)
			s.Answers("q-1", answer)
			if want == "" {
				s.plansNot("deliver")
			} else if text := s.Delivers(1).Text; !strings.Contains(text, want) {
				t.Errorf("the agent reads:\n%s", text)
			}
			s.is(checkpoints.Running)
		})
	}
}

func TestAnAgentThatTakesTooLongMayBeStoppedByItsQuestion(t *testing.T) {
	s := overrunning(t, conf.Ask)
	s.Answers("q-1", "stop")
	s.plans("end " + Root)
	if a := s.State.Agents.Get(Root); a.StopWanted == "" {
		t.Error("it continues")
	}
}

func TestAnAgentDoesNotWaitForTheQuestionHowLongItTakes(t *testing.T) {
	s := overrunning(t, conf.Park)
	s.reports("success", "")
	s.turnEnds()
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn {
		t.Errorf("the question is %s", q.State)
	}
}

func TestWhereQuestionsAreRefusedAnOverrunIsANotice(t *testing.T) {
	s := overrunning(t, conf.Fail)
	s.is(checkpoints.Running)
	told := Notifications(State{Records: records.Records{Run: s.State.Run, Agents: s.State.Agents}}, s.State,
		s.Events[len(s.Events)-1])
	if s.State.Questions.Len() != 0 || len(told) != 1 || !strings.Contains(told[0].Text, "longer than its estimate") {
		t.Errorf("%d questions; the person is told %+v", s.State.Questions.Len(), told)
	}
}

func FuzzParseEstimate(f *testing.F) {
	for _, text := range []string{"2-3 hours", "1h30m", "half an hour", "1e999 h", strings.Repeat("9", 400) + "h",
		"1,5,5 days", "١ h", "1M1d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := task.ParseEstimate(text)
		if d < 0 || d > task.MaxEstimate {
			t.Fatalf("%q: %v", text, d)
		}
		if again := task.ParseEstimate(d.Round(time.Second).String()); d >= time.Second && again != d.Round(time.Second) {
			t.Errorf("%q is %v, which is read as %v", text, d, again)
		}
	})
}

func TestWorkThatTakesLongerThanItsEstimateIsToldOfOnce(t *testing.T) {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "All of it", Estimated: "2-3 hours",
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume}})
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	s.plansNot("overdue")
	s.Launches(1)
	s.plans("overdue " + Root)
	if due := s.State.Agents.Get(Root).Overdue; due.Sub(*s.State.Launches.Get(Root)[0].StartedAt) != 3*time.Hour {
		t.Fatalf("it is due at %v", due)
	}
	before := s.State
	s.Do(Overdue{Agent: Root}) // as an earlier release has stored it: it asks nothing
	s.plansNot("overdue")
	if s.try(Overdue{Agent: Root}) {
		t.Error("it is told of twice")
	}
	told := Notifications(before, s.State, s.Events[len(s.Events)-1])
	if len(told) != 1 || !told[0].Trouble || !strings.Contains(told[0].Text, "longer than its estimate (3h0m0s") ||
		!strings.Contains(told[0].Text, "claude-supervise stop "+Root) {
		t.Errorf("the person is told %+v", told)
	}
}
