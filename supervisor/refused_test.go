package supervisor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// refuses is an agent that works where the person is asked about refused calls.
func refuses(t *testing.T, change func(*conf.Config)) *Story {
	t.Helper()
	s := Begin(t, func(c *conf.Config) {
		c.Permissions = conf.AskRefused
		if change != nil {
			change(c)
		}
	})
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	return s
}

func refusedCall(command string, from *checkpoints.Subagent) checkpoints.ToolCall {
	return checkpoints.ToolCall{Launch: 1, Name: "Bash", From: from,
		Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command))}
}

func aboutCall(command string) []signals.Question {
	return []signals.Question{{ID: "Bash", Header: "Bash", Text: "Allow Bash: " + command + "?",
		Context: "command: " + command,
		Options: []signals.Option{{Label: Allow}, {Label: Deny}, {Label: DenyStop}}}}
}

// isRefused has claude refuse a call, and reports whether the person is asked about it, as id.
func (s *Story) isRefused(id, command string, from *checkpoints.Subagent) bool {
	s.T.Helper()
	before, call := s.State.Questions.Len(), refusedCall(command, from)
	s.try(CallRefused{Agent: Root, Launch: 1, ToolUse: "toolu-" + id, Call: &call,
		Questions: aboutCall(command), Why: "its check", Naming: Naming{IDs: []string{id}}})
	return s.State.Questions.Len() > before
}

// isLetThrough has the hook ask about a call, and reports whether it is let through.
func (s *Story) isLetThrough(request, command string, from *checkpoints.Subagent) bool {
	s.T.Helper()
	call := refusedCall(command, from)
	call.Request, call.ToolUse = request, "toolu-"+request
	s.Do(Asked{Agent: Root, Launch: 1, Call: call, Kind: questions.AskRefusal, Questions: aboutCall(command),
		Naming: Naming{IDs: []string{"q-" + request}}})
	for _, v := range s.State.FindDeliveries(Root,
		func(v *Delivery) bool { return v.Tool != nil && v.Tool.Request == request }) {
		s.Do(Sent{UUID: v.UUID, Launch: 1})
		return strings.Contains(string(v.Reply), `"behavior":"allow"`)
	}
	s.T.Fatalf("nothing answers %s", request)
	return false
}

func TestNobodyIsAskedAboutRefusedCallsWithoutEnd(t *testing.T) {
	s := refuses(t, nil)
	asked := 0
	for i := range 3 * maxRefused {
		if s.isRefused(fmt.Sprintf("q-%d", i), fmt.Sprint("touch ", i), nil) {
			asked++
		}
	}
	if asked != maxRefused {
		t.Errorf("they are asked about %d", asked)
	}
	s.Answers("q-0", Deny)
	why, asks := s.State.RefusedUnasked(Root, procs.Refused{Call: &procs.Ask{Name: "Bash",
		Input: refusedCall("touch 0", nil).Input}})
	if asks || !strings.Contains(why, "you have left it refused (q-0)") {
		t.Errorf("of one that was left refused it is said %q", why)
	}
}

func TestWhyNobodyIsAskedAboutARefusedCall(t *testing.T) {
	known := &procs.Ask{Name: "Bash", Input: json.RawMessage(`{}`)}
	for name, c := range map[string]struct {
		change func(*conf.Config)
		m      procs.Refused
		why    string
		asks   bool
	}{
		"asked":     {nil, procs.Refused{Call: known}, "", true},
		"a rule":    {nil, procs.Refused{Call: known, Fixed: true}, "no answer can lift that", false},
		"not known": {nil, procs.Refused{}, "not known here", false},
		"not wanted": {func(c *conf.Config) { c.Permissions = conf.AskPermissions }, procs.Refused{Call: known}, "",
			false},
		"questions refused": {func(c *conf.Config) { c.Policy = conf.Fail }, procs.Refused{Call: known},
			"questions are refused", false},
	} {
		s := refuses(t, nil).State
		if c.change != nil {
			c.change(&s.Config)
		}
		if why, asks := s.RefusedUnasked(Root, c.m); asks != c.asks || !strings.Contains(why,
			c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %v, %q", name, asks, why)
		}
	}
}

// A rule may refuse what was allowed: it stays so, and the question says it.
func TestACallThatStaysRefusedIsSaidOfItsQuestion(t *testing.T) {
	s := refuses(t, nil)
	s.isRefused("q-1", "touch x", nil)
	s.Answers("q-1", Allow)
	s.Delivers(1)
	s.isLetThrough("r1", "touch x", nil)
	if why, asks := s.State.RefusedUnasked(Root, procs.Refused{ToolUse: "toolu-r1", Fixed: true}); !asks ||
		!strings.Contains(why, "you had allowed it (q-1)") {
		t.Errorf("it is said: %q, %v", why, asks)
	}
	s.Do(CallRefused{Agent: Root, Launch: 1, ToolUse: "toolu-r1", Why: "a rule denies it"})
	if q := s.State.Questions.Get("q-1"); !strings.Contains(q.Remark, "stays refused") || !strings.Contains(q.Remark,
		"a rule denies it") {
		t.Errorf("the question says %q", q.Remark)
	}
}

func TestARefusedCallThatCannotBeShownWholeIsNotAskedAbout(t *testing.T) {
	q, _ := ask.Permission(procs.Ask{Name: "Bash", Refused: true}, ask.CallView{More: 1})
	if Allowable([]signals.Question{ask.AboutRefused(q)}) {
		t.Error("it could be allowed unseen")
	}
}
