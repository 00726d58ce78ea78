package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

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

func TestStepLeavesTheOldStateAsItWas(t *testing.T) {
	s := Begin(t, nil)
	before, agent := s.State, *s.State.Agents.Get(Root)
	s.Do(s.clarification("q-1", "Which database?"))
	s.turnEnds()
	if before.Questions.Len() != 0 || before.Agents.Get(Root).Status != agent.Status || !before.Launch(Root).Phase.InTurn() {
		t.Fatal("Step changed the state that it was given")
	}
}
