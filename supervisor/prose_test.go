package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/listen"
)

// endsWith reports whether a person is asked what a message of the agent ends with.
func (s *Story) endsWith(message string) bool {
	s.T.Helper()
	sig, _ := signals.ClosingQuestion(message)
	return s.try(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-1"}}}})
}

const updateDocs = "The parser is fixed.\n\nShould I also update the docs?"

// An agent that ends with a question in its own words is first told how to ask; if it ends so again, it is asked.
func TestAnAgentThatEndsInProseWithAQuestionIsAskedIt(t *testing.T) {
	s := Begin(t, nil)
	if s.endsWith(updateDocs) {
		t.Fatal("a person is asked before the agent was told how to ask")
	}
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if s.State.Launch(Root).Gate.Block == "" {
		t.Fatal("it is not sent on")
	}
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g2"})
	if !s.endsWith(updateDocs) {
		t.Fatal("nobody is asked")
	}
	s.turnEnds()
	s.is(checkpoints.Waiting)
	q := s.State.Questions.Get("q-1")
	if q.Text != "Should I also update the docs?" || q.Context != "The parser is fixed." {
		t.Errorf("it is asked %q (%q)", q.Text, q.Context)
	}
	s.Answers("q-1", "no")
	text := s.Delivers(1).Text
	if !strings.Contains(text, "## CLARIFICATION RESPONSE") || !strings.Contains(text, "A1: no") {
		t.Errorf("the agent reads:\n%s", text)
	}
}

func TestAQuestionInProseIsNoneWhereTheWorkHasAnotherEnd(t *testing.T) {
	for name, before := range map[string]func(*Story){
		"it has reported": func(s *Story) {
			s.calls("r1", "report_completion", `{"status":"success","summary":"done"}`, nil)
		},
		"something lives in the background": func(s *Story) {
			s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: []checkpoints.Task{{Name: "shell: make"}}})
		},
		"it asks by a tool": func(s *Story) {
			s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, nil, "q-9")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
			before(s)
			if s.endsWith(updateDocs) {
				t.Error("a person is asked")
			}
		})
	}
}

func TestTheLastWordsOfATurnAreThoseWithNoCallAfterThem(t *testing.T) {
	said := func(text string) procs.Message { return procs.Text{ID: text, Text: text} }
	for name, c := range map[string]struct {
		messages []procs.Message
		asks     bool
	}{
		"the last message":             {[]procs.Message{said("Should I?")}, true},
		"a call follows":               {[]procs.Message{said("Should I?"), procs.ToolUse{ID: "t", Name: "Read"}}, false},
		"a statement follows":          {[]procs.Message{said("Should I?"), said("I did.")}, false},
		"a subagent's":                 {[]procs.Message{procs.Text{ID: "m", Parent: "t", Text: "Should I?"}}, false},
		"before it was sent on":        {[]procs.Message{said("Should I?"), procs.StopHook{}, said("I wait."), procs.StopHook{}}, true},
		"printed in pieces":            {[]procs.Message{procs.Raw{Text: "Should "}, procs.Raw{Text: "I?\n"}}, true},
		"nothing after the turn's end": {nil, false},
	} {
		r := listen.NewSignalReader(Root, nil, nil)
		for _, m := range c.messages {
			r.Read(m)
		}
		if got := len(r.ClosingQuestion()) == 1; got != c.asks {
			t.Errorf("%s: %v", name, got)
		}
		if len(r.ClosingQuestion()) > 0 {
			t.Errorf("%s: it is asked again", name)
		}
	}
}
