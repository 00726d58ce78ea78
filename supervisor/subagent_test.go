package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/prompts"
)

// parks begins a story in which a subagent asks and the process is parked, on a release.
func parks(t *testing.T, version string) *Story {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: version})
	from := &checkpoints.Subagent{ToolUse: "toolu_agent", Type: "general-purpose", Task: "look at the schema",
		Prompt: "Look at the schema, then decide.", Depth: 1}
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"},{"text":"And which?"}]}`, from, "q-1", "q-2")
	s.Ends()
	s.plans("survey")
	looked := *from
	looked.ID, looked.Done = "sub1", "Files that it wrote:\n- schema.sql"
	s.Do(Surveyed{Agent: Root, Launch: 1, Checkpoint: "some work",
		Subagents: map[string]checkpoints.Subagent{"q-1": looked}})
	s.Do(Confirmed{UUID: s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt)[0].UUID, Found: true})
	s.is(checkpoints.Parked)
	return s
}

func TestAParkedSubagentIsRevivedWithItsAnswers(t *testing.T) {
	s := parks(t, "2.1.329")
	s.Answers("q-1", "this one")
	s.is(checkpoints.Parked)
	s.Answers("q-2", "that one")
	text := s.delivered(2)
	for _, want := range []string{"sub1 (look at the schema)", "A1: this one", "A2: that one",
		`to "sub1"`, "SendMessage"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q the agent reads:\n%s", want, text)
		}
	}
}

func TestWhereNoSubagentCanBeRevivedItsTaskIsGivenAgain(t *testing.T) {
	for name, tell := range map[string]func() string{
		"by the release": func() string {
			s := parks(t, "2.1.7")
			s.Answers("q-1", "this one")
			s.Answers("q-2", "that one")
			return s.delivered(2)
		},
		"in a new conversation": func() string {
			s := parks(t, "2.1.329")
			l := &Launch{Agent: Root, N: 2} // and no --resume
			b := prompts.BranchesOf([][]*Question{s.State.Group("q-1")})[0]
			return b.Answered(s.State.revives(Root, l), s.State.forSubagent)
		},
		"halted at the budget": func() string {
			s := parks(t, "2.1.330")
			parked := *s.State.Launches.Get(Root)[0]
			defer func() { *s.State.Launches.Get(Root)[0] = parked }() // as its history has it
			s.State.Launches.Get(Root)[0].End = endBudget
			b := prompts.BranchesOf([][]*Question{s.State.Group("q-1")})[0]
			return b.Answered(s.State.revives(Root, &Launch{Agent: Root, N: 2, Resume: true}), s.State.forSubagent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := tell()
			for _, want := range []string{"Start a subagent of type general-purpose", "Look at the schema, then decide.",
				"- schema.sql"} {
				if !strings.Contains(text, want) {
					t.Errorf("without %q the agent reads:\n%s", want, text)
				}
			}
			if strings.Contains(text, "SendMessage") {
				t.Errorf("it is told to revive it:\n%s", text)
			}
			if strings.Index(text, "- schema.sql") > strings.Index(text, "## RESUME INSTRUCTIONS") {
				t.Errorf("what is quoted stands below what it is told:\n%s", text)
			}
		})
	}
}

func TestWhatOneSubagentAskedInSeveralCallsIsToldItOnce(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
	one := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Depth: 1}
	two := &checkpoints.Subagent{ID: "sub2", ToolUse: "toolu_2", Depth: 1}
	s.Do(BusyElsewhere{Agent: Root, Launch: 1, AtWork: true})
	s.calls("r1", "ask_user", `{"questions":[{"text":"First?"}]}`, one, "q-1")
	s.calls("r2", "ask_user", `{"questions":[{"text":"Other?"}]}`, two, "q-2")
	s.calls("r3", "stop_work", `{"blocker_type":"error","details":"No disk"}`, one, "q-3")
	s.Do(BusyElsewhere{Agent: Root, Launch: 1})
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "a")
	s.Answers("q-2", "b")
	s.Answers("q-3", "resolved: freed some")
	s.Do(Prepared{Question: "q-3"})
	text := s.delivered(2)
	if n := strings.Count(text, "Call SendMessage"); n != 2 {
		t.Errorf("%d subagents are revived:\n%s", n, text)
	}
	if !strings.Contains(text, "freed some") || strings.Index(text, "freed some") > strings.Index(text, `to "sub1"`) {
		t.Errorf("the agent reads:\n%s", text)
	}
}

func TestAnAnswerThatTheSubagentHasReadIsNotSaidAgain(t *testing.T) {
	s := Begin(t, nil)
	from := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Depth: 1}
	s.calls("r1", "ask_user", `{"questions":[{"text":"First?"}]}`, from, "q-1")
	s.Answers("q-1", "a")
	d := s.Delivers(1)
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "ended by SIGKILL"})
	s.plans("confirm " + d.UUID)
	for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: v.UUID, Found: true}) // its transcript has the result
	}
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Errorf("the question is %s", q.State)
	}
}

// cut begins a story in which a subagent has read its answer, and is killed at its work with its process.
func cut(t *testing.T, version string) *Story {
	s := Begin(t, nil)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: version})
	from := checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Prompt: "Look at the schema.", Depth: 1}
	s.calls("r1", "ask_user", `{"questions":[{"text":"First?"}]}`, &from, "q-1")
	s.Answers("q-1", "a")
	s.Delivers(1)
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "ended by SIGKILL", Failure: crash()})
	from.Interrupted, from.Done = true, "Files that it wrote:\n- schema.sql"
	s.Do(Surveyed{Agent: Root, Launch: 1, Subagents: map[string]checkpoints.Subagent{"q-1": from}})
	for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: v.UUID, Found: true})
	}
	s.Do(RetryDue{Agent: Root})
	return s
}

func TestASubagentThatHadItsAnswerIsSentOnWithItsWork(t *testing.T) {
	s := cut(t, "2.1.329")
	text := s.delivered(2)
	for _, want := range []string{"## SUBAGENT INTERRUPTED", `Call SendMessage`, `to "sub1" and the message to continue`} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q the agent reads:\n%s", want, text)
		}
	}
	if strings.Contains(text, "A1:") {
		t.Errorf("it is told the answer again:\n%s", text)
	}
	s.dies(crash())
	s.Rests(true)
	s.Do(RetryDue{Agent: Root})
	if text := s.delivered(3); strings.Contains(text, "sub1") {
		t.Errorf("it is told of it again:\n%s", text)
	}
}

func TestWhereItCannotBeSentOnTheOneInItsPlaceIsToldTheAnswer(t *testing.T) {
	text := cut(t, "2.1.7").delivered(2)
	for _, want := range []string{"A1: a", "Start a subagent", "Look at the schema.", "- schema.sql"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q the agent reads:\n%s", want, text)
		}
	}
}

func TestWhatASubagentIsToldIsSaidAgainInANewConversation(t *testing.T) {
	s := cut(t, "2.1.329")
	s.Launches(2)
	s.dies(procs.Failure{Kind: procs.SessionGone, Reason: "no conversation"})
	s.Do(Surveyed{Agent: Root, Launch: 2})
	if text := s.delivered(3); !strings.Contains(text, "A1: a") || !strings.Contains(text, "Start a subagent") {
		t.Errorf("the agent reads:\n%s", text)
	}
}

// A process that resumes a conversation may end an empty turn of its own before it begins that of the prompt.
func TestAPromptIsNotForgottenWhenAnotherTurnEndsBeforeItBegins(t *testing.T) {
	s := Begin(t, nil)
	s.Asks("q-1", "Which?")
	s.Answers("q-1", "SQLite")
	for _, e := range Plan(s.State) {
		if e.Do == effect.Deliver {
			s.Do(Sent{UUID: e.Delivery, Launch: 1})
		}
	}
	s.Do(TurnEnded{Agent: Root, Launch: 1})
	s.dies(crash())
	s.Rests(true)
	s.Do(RetryDue{Agent: Root})
	if text := s.delivered(2); !strings.Contains(text, "## GO ON") {
		t.Errorf("the agent reads:\n%s", text)
	}
}
