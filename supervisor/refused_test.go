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

func TestARefusedCallThatIsAllowedIsLetThroughOnceAndOnlyThat(t *testing.T) {
	s := refuses(t, nil)
	if !s.isRefused("q-1", "touch x", nil) {
		t.Fatal("nobody is asked")
	}
	s.is(checkpoints.Running)
	if s.isLetThrough("r0", "touch x", nil) {
		t.Error("it is let through before anybody has allowed it")
	}
	if s.isRefused("q-2", "touch x", nil) {
		t.Error("it is asked about twice")
	}
	s.Answers("q-1", Allow)
	d := s.Delivers(1)
	if !d.Now || !strings.Contains(d.Text, "command: touch x") || !strings.Contains(d.Text,
		"it will be let through once") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
	if got := s.State.Expected(Root); len(got) != 1 || got[0] != procs.CallKey("Bash", refusedCall("touch x", nil).Input) {
		t.Errorf("expected is %q", got)
	}
	for name, through := range map[string]bool{
		"another byte": s.isLetThrough("r1", "touch y", nil), "a space": s.isLetThrough("r2", "touch x ", nil),
		"a subagent": s.isLetThrough("r3", "touch x", &checkpoints.Subagent{ID: "sub"}),
	} {
		if through {
			t.Errorf("%s is let through", name)
		}
	}
	if !s.isLetThrough("r4", "touch x", nil) {
		t.Error("it is not let through")
	}
	if !s.State.Questions.Get("q-1").GrantSpent || len(s.State.Expected(Root)) > 0 {
		t.Error("the allowance is not used up")
	}
	if s.isLetThrough("r5", "touch x", nil) {
		t.Error("it is let through twice")
	}
	if !s.isRefused("q-3", "touch x", nil) {
		t.Error("refused after that, nobody is asked")
	}
}

// Once it is saved that a call is let through, that counts, no matter who is killed.
func TestAnAllowanceIsUsedUpThoughTheProcessIsLost(t *testing.T) {
	s := refuses(t, nil)
	s.isRefused("q-1", "touch x", nil)
	s.Answers("q-1", Allow)
	s.Delivers(1)
	s.isLetThrough("r1", "touch x", nil)
	s.Do(Ended{Agent: Root, Launch: 1, Failure: procs.Failure{Kind: procs.Crashed, Passing: true}, Outcome: "killed"})
	for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Confirmed{UUID: v.UUID})
	}
	if q := s.State.Questions.Get("q-1"); !q.GrantSpent || len(s.State.Expected(Root)) > 0 {
		t.Errorf("it may be made again: %+v", q.Grant)
	}
}

func TestAnAllowanceEndsWithItsAgent(t *testing.T) {
	s := refuses(t, nil)
	s.isRefused("q-1", "touch x", nil)
	s.Answers("q-1", Allow)
	s.Delivers(1)
	s.reports("success", "")
	s.turnEnds()
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	if q := s.State.Questions.Get("q-1"); len(s.State.Expected(Root)) > 0 || !strings.Contains(q.Remark, "not used") {
		t.Errorf("it lasts longer than its agent: %+v, %q", q.Grant, q.Remark)
	}
}

// Under the person's own config a refused call is asked about like any question: success waits for the answer.
func TestSuccessWaitsForTheAnswerAboutARefusedCall(t *testing.T) {
	for name, c := range map[string]struct {
		hold   bool
		answer string
		told   bool
	}{"held, allowed": {true, Allow, true}, "parked, allowed": {false, Allow, true}, "held, denied": {true,
		Deny + " never", false}} {
		t.Run(name, func(t *testing.T) {
			s := refuses(t, func(cfg *conf.Config) {
				if !c.hold {
					cfg.Hold = 0
				}
			})
			s.isRefused("q-1", "touch x", nil)
			s.reports("success", "")
			s.turnEnds()
			n := 1
			if c.hold {
				s.is(checkpoints.Waiting)
			} else {
				s.Ends()
				s.is(checkpoints.Parked)
				n = 2
				s.Rests(true)
			}
			s.Answers("q-1", c.answer)
			if !c.told {
				s.Do(Checked{Agent: Root})
				s.Ends()
				s.is(checkpoints.Succeeded)
				return
			}
			if n == 2 {
				s.Do(Started{Agent: Root, Launch: 2, PID: 102})
			}
			if d := s.Delivers(n); !strings.Contains(d.Text, "it will be let through once") {
				t.Errorf("the agent reads:\n%s", d.Text)
			}
			if s.State.Agents.Get(Root).Report != nil {
				t.Error("what it reported before counts still")
			}
		})
	}
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

// What a subagent may do after all its main conversation is told, with how the subagent is reached.
func TestTheAnswerAboutASubagentsRefusedCallNamesTheSubagent(t *testing.T) {
	s := refuses(t, nil)
	sub := &checkpoints.Subagent{ID: "sub1", Task: "test"}
	s.isRefused("q-1", "touch x", sub)
	s.Answers("q-1", Allow)
	d := s.Delivers(1)
	for _, want := range []string{"has made a call that was refused", `"sub1"`, "it will be let through once"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the agent does not read %q:\n%s", want, d.Text)
		}
	}
	if s.isLetThrough("r1", "touch x", nil) || !s.isLetThrough("r2", "touch x", sub) {
		t.Error("it is not the subagent's alone")
	}
}

func TestARefusedCallThatCannotBeShownWholeIsNotAskedAbout(t *testing.T) {
	q, _ := ask.Permission(procs.Ask{Name: "Bash", Refused: true}, ask.CallView{More: 1})
	if Allowable([]signals.Question{ask.AboutRefused(q)}) {
		t.Error("it could be allowed unseen")
	}
}
