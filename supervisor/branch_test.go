package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/records"
)

// lineage returns a subagent that one started which another started: the lowest of three levels below the main
// conversation.
func lineage() *checkpoints.Subagent {
	top := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Type: "general-purpose", Task: "the survey",
		Prompt: "Survey it.", Depth: 1, Interrupted: true, Done: "Files that it wrote:\n- notes.txt"}
	middle := &checkpoints.Subagent{ID: "sub2", ToolUse: "toolu_2", Task: "the part", Prompt: "A part.", Depth: 2,
		By: top, Interrupted: true}
	return &checkpoints.Subagent{ID: "sub3", ToolUse: "toolu_3", Task: "the detail", Prompt: "A detail.", Depth: 3,
		By: middle, Interrupted: true}
}

// inOrder fails unless a text has all of these, one after the other.
func inOrder(t *testing.T, text string, wants ...string) {
	t.Helper()
	at := 0
	for _, want := range wants {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("without %q at its place the agent reads:\n%s", want, text)
		}
		at += i + len(want)
	}
}

// asked begins a story in which subagents have asked, and their process has gone.
func asked(t *testing.T, version string, asked ...*checkpoints.Subagent) *Story {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: version})
	s.Do(BusyElsewhere{Agent: Root, Launch: 1, AtWork: true})
	found := map[string]checkpoints.Subagent{}
	for i, from := range asked {
		id := "q-" + string(rune('1'+i))
		s.calls("r"+id, "ask_user", `{"questions":[{"text":"Which?"}]}`, from, id)
		found[id] = *from
	}
	s.Do(BusyElsewhere{Agent: Root, Launch: 1})
	s.Ends()
	s.Do(Surveyed{Agent: Root, Launch: 1, Checkpoint: "some work", Subagents: found})
	for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: v.UUID, Found: true})
	}
	return s
}

func TestAChainOfSubagentsIsRevivedFromTheBottomUp(t *testing.T) {
	s := asked(t, "2.1.329", lineage())
	s.Answers("q-1", "this one")
	inOrder(t, s.delivered(2), "## CLARIFICATION RESPONSE",
		"sub3 (the detail) had asked the person", "A1: this one",
		"sub2 (the part) was interrupted while it waited for the result of sub3 (the detail)",
		"sub1 (the survey) was interrupted while it waited for the result of sub2 (the part)",
		"## RESUME INSTRUCTIONS",
		`1. with to "sub3" and the questions with their answers above`,
		`2. with to "sub2" and the result of "sub3"`,
		`3. with to "sub1" and the result of "sub2"`)
	if again := s.State.Questions.Get("q-1").Tool.From; records.Interrupted(s.State.Questions.Get("q-1")) || again.By.By == nil {
		t.Errorf("it is kept as %+v", again)
	}
}

func TestOneThatWaitsForTwoSubagentsIsRevivedAfterBoth(t *testing.T) {
	one, other := lineage(), lineage()
	other.ID, other.ToolUse, other.Task = "sub4", "toolu_4", "the other detail"
	s := asked(t, "2.1.329", one, other)
	s.Answers("q-1", "this one")
	s.is(checkpoints.Parked)
	s.Answers("q-2", "that one")
	text := s.delivered(2)
	inOrder(t, text, "sub3 (the detail) had asked", "A1: this one", "sub4 (the other detail) had asked", "A1: that one",
		`1. with to "sub3"`, `2. with to "sub4"`,
		`3. with to "sub2" and the result of "sub3", once you have it, and the result of "sub4"`, `4. with to "sub1"`)
	if n := strings.Count(text, "## RESUME INSTRUCTIONS"); n != 1 {
		t.Errorf("%d instructions for one branch:\n%s", n, text)
	}
}

func TestOneThatWasInterruptedAfterItsSubagentHadEndedGoesOnAlone(t *testing.T) {
	s := Begin(t, nil)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
	from := lineage()
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, from, "q-1")
	s.Answers("q-1", "a")
	s.Delivers(1)
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "ended by SIGKILL", Failure: crash()})
	from.Interrupted, from.By.Interrupted = false, false
	s.Do(Surveyed{Agent: Root, Launch: 1, Subagents: map[string]checkpoints.Subagent{"q-1": *from}})
	for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: v.UUID, Found: true})
	}
	s.Do(RetryDue{Agent: Root})
	text := s.delivered(2)
	inOrder(t, text, "sub3 (the detail) had asked the person, had its answer, and has come to its end",
		"sub1 (the survey) was interrupted at its work", `with to "sub1" and the message to continue`)
	if strings.Contains(text, `to "sub3"`) || strings.Contains(text, "A1:") {
		t.Errorf("what has ended is sent on:\n%s", text)
	}
}

func TestWhereAChainCannotBeRevivedItsUppermostTaskIsGivenAgain(t *testing.T) {
	s := asked(t, "2.1.7", lineage())
	s.Answers("q-1", "this one")
	inOrder(t, s.delivered(2), "A1: this one", "The task of sub3 (the detail):\nA detail.",
		"The task of sub1 (the survey):\nSurvey it.", "- notes.txt", "## RESUME INSTRUCTIONS",
		"Start a subagent of type general-purpose with its task again", "The others worked for it.")
}

// One in the background that waits for a subagent which asks does no work that parking would cost.
func TestWhoWaitsForASubagentThatAsksDoesNotKeepItsProcessHeld(t *testing.T) {
	for name, c := range map[string]struct {
		background []checkpoints.Task
		parks      bool
	}{
		"the one above waits":    {[]checkpoints.Task{{ID: "sub1", Name: "subagent: the survey", Subagent: true}}, true},
		"another one is at work": {[]checkpoints.Task{{ID: "sub9", Name: "subagent: else", Subagent: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
			s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: c.background})
			s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, lineage(), "q-1")
			if c.parks {
				s.plans("end " + Root)
			} else {
				s.plansNot("end " + Root)
			}
		})
	}
}
