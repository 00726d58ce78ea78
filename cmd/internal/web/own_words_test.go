package web

import (
	"errors"
	"testing"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// What the commands say is told on the page by names, and by what can be done there.
func TestThePageSaysWhatCanBeDoneOnIt(t *testing.T) {
	s := newServer(newState(0))
	v := view.RunView{ID: "r-3f9a2c1b", Name: "night", Agents: []view.AgentView{
		{ID: "a-7Qm2xK9fWb4T", Task: "Build all.\nThen test."}, {ID: "a-000000000002", Name: "tests"}}}
	for said, want := range map[string]string{
		"its supervisor is gone; to continue, run: claude-supervise resume r-3f9a2c1b":                                         "its supervisor is gone. Resume continues it.",
		"Everything is saved. To continue, run:\n  claude-supervise resume r-3f9a2c1b":                                         "Everything is saved. Resume continues it.",
		"It is kept.\nAnswer with:\n  claude-supervise answer q-123456 VALUE\nThen run:\n  claude-supervise resume r-3f9a2c1b": "It is kept. Answer its question, then resume it.",
		"a-000000000002 is being stopped\nNobody supervises r-3f9a2c1b: the stop is kept, and done when the run is resumed. " +
			"Run:\n  claude-supervise resume r-3f9a2c1b": "tests is being stopped\nNobody supervises night: the stop is kept, and done when " +
			"the run is resumed. Resume continues it.",
		"waits for a-7Qm2xK9fWb4T (build), a-000000000009 (x) and q-123456": "waits for Build all., a-000000000009 (x) and its question",
		"its folder is gone; to continue, run: claude-supervise resume r-3f9a2c1b --cwd DIR": "its folder is gone; to continue, " +
			"run: claude-supervise resume r-3f9a2c1b --cwd DIR",
	} {
		if got := s.draws.onPage(v, said); got != want {
			t.Errorf("%q is told as\n%q, want\n%q", said, got, want)
		}
	}
}

func TestTheEndOfAnAgentIsToldOnThePageByWhatThePageHas(t *testing.T) {
	s := newServer(newState(0))
	const ended = "nothing was sent to a-7Qm2xK9fWb4T (succeeded: all is done): it has already ended"
	const typed = "; for follow-up work in its conversation:\n  claude-supervise run --continue a-7Qm2xK9fWb4T \"TASK\""
	s.draws.config.Service = struct {
		service.Service
		service.Starter
	}{}
	if got, want := s.draws.endedOnPage(ended+typed), ended+"; for follow-up work start a run"; got != want {
		t.Errorf("it is told as\n%q, want\n%q", got, want)
	}
	s.draws.config.Service = struct{ service.Service }{}
	if got := s.draws.endedOnPage(ended + typed); got != ended {
		t.Errorf("where no run can be started it is told as\n%q, want\n%q", got, ended)
	}
}

func TestACardSaysWhatCanBeFilledIn(t *testing.T) {
	options := Card{Options: []Option{{Label: "a"}}, OwnWords: true}
	buttons := options
	buttons.Buttons = true
	for want, c := range map[string]struct {
		Card
		error
	}{
		`9 is not one: choose an option, or write the words between """ to send them as they are`: {options,
			&questions.Refusal{Reason: questions.NotOffered, Message: "9 is not one: type 1 for a"}},
		"9 is not one: choose an option":     {buttons, &questions.Refusal{Reason: questions.NotOffered, Message: "9 is not one: type 1 for a"}},
		"x is no number: write a number":     {Card{Rule: "a number"}, &questions.Refusal{Message: "x is no number: type a number"}},
		"nothing was typed: write an answer": {Card{}, &questions.Refusal{Message: "nothing was typed: type the answer"}},
		"the rule Bash(ls) does not permit what is asked": {Card{ID: "q-123456"},
			errors.New("the rule Bash(ls) does not permit what is asked; question q-123456 stays open")},
		"it has ended: type claude-supervise": {Card{}, errors.New("it has ended: type claude-supervise")},
	} {
		if got := wrong(c.Card, problem{Error: c.Error()}, c.error); got != want {
			t.Errorf("%q is told as %q, want %q", c.Error(), got, want)
		}
	}
}
