package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// Whatever form a question had, its refusal is said plainly, and is nowhere taken for an answer.
func TestADeclinedQuestionIsSaidSoInTheFormOfTheQuestion(t *testing.T) {
	options := []signals.Option{{Label: "ask me later"}, {Label: "go on"}}
	const why, said = "ask me later", "The person declines to answer: ask me later. Go on without it, or end with a report."
	for dialect, c := range map[signals.Dialect]struct{ want, not string }{
		signals.Block:        {"A1: " + said, ""},
		signals.JSON:         {"A1: " + said, ""},
		signals.Awaiting:     {`{"Q1": "` + said + `"}`, ""},
		signals.Paused:       {"Answer: " + said, "Letter:"},
		signals.Escalated:    {"Answer: " + said, "User selected"},
		signals.TaskMetadata: {said, "User chose"},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			s := begin(t, func(cfg *Config) { cfg.Hold = Forever })
			s.do(Heard{Agent: root, Launch: 1, Named: Named{
				Signal: signals.Signal{Kind: signals.Clarification, Dialect: dialect, Questions: []signals.Question{{ID: "Q1", Text: "Which?", Options: options}}},
				Naming: Naming{IDs: []string{"q-1"}},
			}})
			s.turnEnds()
			s.declines("q-1", why)
			text := s.delivers(1).Text
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("it reads:\n%s", text)
			}
		})
	}
}

// declines refuses to answer a question.
func (s *story) declines(id, why string) {
	s.t.Helper()
	s.do(Noted{Notes: []Note{{Seq: s.state.Taken + 1, Run: runID, Kind: noteAnswer, Question: id, Value: why, Decline: true, By: "terminal", At: s.at}}})
}

func TestADeclinedStopIsNotResolved(t *testing.T) {
	s := begin(t, func(cfg *Config) { cfg.Hold = Forever })
	s.do(Heard{Agent: root, Launch: 1, Named: Named{
		Signal: signals.Signal{Kind: signals.Stop, Dialect: signals.Block, Fields: []signals.Field{
			{Name: "details", Value: "no registry"}, {Name: "blocked_work", Value: "the upload"},
		}},
		Naming: Naming{IDs: []string{"q-1"}},
	}})
	s.turnEnds()
	s.declines("q-1", "give up") // which would be an answer
	s.do(Prepared{Question: "q-1"})
	text := s.delivers(1).Text
	if !strings.HasPrefix(text, "## BLOCKER NOT RESOLVED\n\nIssue: no registry\nThe person declines to resolve it: give up\n") ||
		strings.Contains(text, "Continue with what was blocked") {
		t.Errorf("it reads:\n%s", text)
	}
}

func TestAnAskUserQuestionIsDeniedOnlyIfAllOfItIsDeclined(t *testing.T) {
	input := userInput(userQuestion("Ground?", "Black", "White"), userQuestion("Accents?", "Red", "Blue"))
	qs, err := userQuestions(input)
	if err != nil {
		t.Fatal(err)
	}
	ask := Asked{
		Agent: root, Launch: 1, Kind: checkpoints.AskClarification, Questions: qs, Naming: Naming{IDs: []string{"q-1", "q-2"}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "req-1", ToolUse: "toolu_1", Name: askUserQuestion, Input: input},
	}
	one := begin(t, nil)
	one.do(ask)
	one.declines("q-1", "not my colours")
	one.answers("q-2", "Red")
	reply := string(one.delivers(1).Reply)
	if !strings.Contains(reply, `"answers":{"Ground?":"The person declines to answer: not my colours. Go on without it, or end with a report.","Accents?":"Red"}`) {
		t.Errorf("the reply is %s", reply)
	}

	all := begin(t, nil)
	all.do(ask)
	all.declines("q-1", "not my colours")
	all.declines("q-2", "")
	reply = string(all.delivers(1).Reply)
	for _, want := range []string{`"behavior":"deny"`, "Q1: Ground?", "not my colours.", "Q2: Accents?", "The person declines to answer. Go on"} {
		if !strings.Contains(reply, want) {
			t.Errorf("no %q in the reply %s", want, reply)
		}
	}
}

// Where a kind of question has a no of its own, that is what a refusal is.
func TestADeclinedPermissionIsDenied(t *testing.T) {
	s := begin(t, nil)
	s.do(Asked{
		Agent: root, Launch: 1, Kind: checkpoints.AskPermission,
		Call:      checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_1", Name: "Write", Input: raw(map[string]string{"file_path": "/a"})},
		Questions: []signals.Question{{ID: "Write", Text: "Allow Write?"}}, Naming: Naming{IDs: []string{"q-1"}},
	})
	s.declines("q-1", allow)
	if q := s.state.Questions["q-1"]; q.Answer != deny+" "+allow || q.Declined {
		t.Fatalf("it is answered %q", q.Answer)
	}
	if d := s.delivers(1); !strings.Contains(string(d.Reply), `"behavior":"deny"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
}

func TestADeclinedAnswerCanStillBeChanged(t *testing.T) {
	s := begin(t, nil)
	s.do(s.clarification("q-1", "Which database?"))
	s.declines("q-1", "no idea")
	s.do(Noted{Notes: []Note{{Seq: s.state.Taken + 1, Run: runID, Kind: noteChange, Question: "q-1", Value: "SQLite", By: "terminal", At: s.at}}})
	s.turnEnds()
	if text := s.delivers(1).Text; !strings.Contains(text, "A1: SQLite\n") || strings.Contains(text, "declines") {
		t.Errorf("it reads:\n%s", text)
	}
}
