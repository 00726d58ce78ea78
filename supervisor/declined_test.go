package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// Whatever form a question had, its refusal is said plainly, and is nowhere taken for an answer.
func TestADeclinedQuestionIsSaidSoInTheFormOfTheQuestion(t *testing.T) {
	options := []signals.Option{{Label: "ask me later"}, {Label: "continue"}}
	const why, said = "ask me later",
		"The person declines to answer: ask me later. Continue without it, or end with a report."
	for dialect, c := range map[signals.Dialect]struct{ want, not string }{
		signals.Block:        {"A1: " + said, ""},
		signals.JSON:         {"A1: " + said, ""},
		signals.Awaiting:     {`{"Q1": "` + said + `"}`, ""},
		signals.Paused:       {"Answer: " + said, "Letter:"},
		signals.Escalated:    {"Answer: " + said, "User selected"},
		signals.TaskMetadata: {said, "User chose"},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			s := Begin(t, func(cfg *conf.Config) { cfg.Hold = conf.Forever })
			s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{
				Signal: signals.Signal{Kind: signals.Clarification, Dialect: dialect,
					Questions: []signals.Question{{ID: "Q1", Text: "Which?", Options: options}}},
				Naming: Naming{IDs: []string{"q-1"}},
			}})
			s.turnEnds()
			s.declines("q-1", why)
			text := s.Delivers(1).Text
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("it reads:\n%s", text)
			}
		})
	}
}

// declines refuses to answer a question.
func (s *Story) declines(id, why string) {
	s.T.Helper()
	s.Do(InboxRead{Notes: []InboxEntry{{Seq: s.State.Taken + 1, Run: RunID, Kind: EntryAnswer, Question: id,
		Value: why, Decline: true, By: "terminal", At: s.At}}})
}

func TestADeclinedStopIsNotResolved(t *testing.T) {
	s := Begin(t, func(cfg *conf.Config) { cfg.Hold = conf.Forever })
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{
		Signal: signals.Signal{Kind: signals.Stop, Dialect: signals.Block, Fields: []signals.Field{
			{Name: "details", Value: "no registry"}, {Name: "blocked_work", Value: "the upload"},
		}},
		Naming: Naming{IDs: []string{"q-1"}},
	}})
	s.turnEnds()
	s.declines("q-1", "give up") // which would be an answer
	s.Do(Prepared{Question: "q-1"})
	text := s.Delivers(1).Text
	if !strings.HasPrefix(text,
		"## BLOCKER NOT RESOLVED\n\nIssue: no registry\nThe person declines to resolve it: give up\n") ||
		strings.Contains(text, "Continue with what was blocked") {
		t.Errorf("it reads:\n%s", text)
	}
}

func TestAnAskUserQuestionIsDeniedOnlyIfAllOfItIsDeclined(t *testing.T) {
	input := userInput(userQuestion("Ground?", "Black", "White"), userQuestion("Accents?", "Red", "Blue"))
	qs, err := ask.UserQuestions(input)
	if err != nil {
		t.Fatal(err)
	}
	ask := Asked{
		Agent: Root, Launch: 1, Kind: questions.AskClarification, Questions: qs,
		Naming: Naming{IDs: []string{"q-1", "q-2"}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "req-1", ToolUse: "toolu_1", Name: ask.AskUserQuestion,
			Input: input},
	}
	one := Begin(t, nil)
	one.Do(ask)
	one.declines("q-1", "not my colours")
	one.Answers("q-2", "Red")
	reply := string(one.Delivers(1).Reply)
	if !strings.Contains(reply,
		`"answers":{"Ground?":"The person declines to answer: not my colours. Continue without it, or end with a `+
			`report.","Accents?":"Red"}`) {
		t.Errorf("the reply is %s", reply)
	}

	all := Begin(t, nil)
	all.Do(ask)
	all.declines("q-1", "not my colours")
	all.declines("q-2", "")
	reply = string(all.Delivers(1).Reply)
	for _, want := range []string{`"behavior":"deny"`, "Q1: Ground?", "not my colours.", "Q2: Accents?",
		"The person declines to answer. Continue"} {
		if !strings.Contains(reply, want) {
			t.Errorf("no %q in the reply %s", want, reply)
		}
	}
}

// Where a kind of question has a no of its own, that is what a refusal is.
func TestADeclinedPermissionIsDenied(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Asked{
		Agent: Root, Launch: 1, Kind: questions.AskPermission,
		Call: checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_1", Name: "Write",
			Input: raw(map[string]string{"file_path": "/a"})},
		Questions: []signals.Question{{ID: "Write", Text: "Allow Write?"}}, Naming: Naming{IDs: []string{"q-1"}},
	})
	s.declines("q-1", Allow)
	if q := s.State.Questions.Get("q-1"); q.Answer != Deny+" "+Allow || q.Declined {
		t.Fatalf("it is answered %q", q.Answer)
	}
	if d := s.Delivers(1); !strings.Contains(string(d.Reply), `"behavior":"deny"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
}

func TestADeclinedAnswerCanStillBeChanged(t *testing.T) {
	s := Begin(t, nil)
	s.Do(s.clarification("q-1", "Which database?"))
	s.declines("q-1", "no idea")
	s.Do(InboxRead{Notes: []InboxEntry{{Seq: s.State.Taken + 1, Run: RunID, Kind: EntryChange, Question: "q-1",
		Value: "SQLite", By: "terminal", At: s.At}}})
	s.turnEnds()
	if text := s.Delivers(1).Text; !strings.Contains(text, "A1: SQLite\n") || strings.Contains(text, "declines") {
		t.Errorf("it reads:\n%s", text)
	}
}
