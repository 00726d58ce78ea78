package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

func TestAnAgentKeepsWhatItsTaskWantsOfIt(t *testing.T) {
	s, err := Step(State{}, Happened{Event: Created{
		Run: "r-1", Agent: Root, Task: "Add a login", SuccessCriteria: []string{"the tests pass"},
		Deliverables: []string{"auth.go"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Agents.Get(Root)
	if !slices.Equal(a.SuccessCriteria, []string{"the tests pass"}) || !slices.Equal(a.Deliverables, []string{"auth.go"}) {
		t.Errorf("the agent keeps %q and %q", a.SuccessCriteria, a.Deliverables)
	}
}

func TestAHoldIsADurationZeroOrForever(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "0": 0, "1h30m": 90 * time.Minute,
		"forever": conf.Forever} {
		if got, err := conf.ParseHold(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "-1s", "5", "Forever"} {
		if got, err := conf.ParseHold(text); err == nil {
			t.Errorf("%q is a hold of %v", text, got)
		}
	}
}

// permission asks for a call that needs it.
func permission(s *Story, request string) {
	s.T.Helper()
	kind, qs := questions.AskPermission, []signals.Question{{ID: "Bash", Header: "Bash", Text: "Allow Bash?"}}
	s.Do(Asked{
		Agent: Root, Launch: s.State.Launch(Root).N, Kind: kind, Questions: qs,
		Naming: Naming{IDs: []string{"q-" + request}},
		Call: checkpoints.ToolCall{Launch: s.State.Launch(Root).N, Request: request, ToolUse: "toolu_" + request,
			Name: "Bash", Input: []byte(`{"command":"rm -rf /tmp/x"}`)},
	})
}

func TestUnderDenyEveryPermissionPromptIsDeniedAtOnceAndNobodyIsAsked(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Permissions = conf.DenyPermissions })
	before := s.State
	permission(s, "1")
	if n := s.State.Questions.Len(); n != 0 {
		t.Fatalf("%d questions are asked", n)
	}
	s.is(checkpoints.Running)
	told := Notifications(before, s.State, Happened{At: s.At, Event: Asked{
		Agent: Root, Kind: questions.AskPermission,
		Call: checkpoints.ToolCall{Name: "Bash", Input: []byte(`{"command":"rm -rf /tmp/x"}`)},
	}})
	if len(told) != 1 || told[0].Text != "permission denied, nobody is asked: Bash: rm -rf /tmp/x" {
		t.Errorf("the person is told %+v", told)
	}
	permission(s, "2")
	denied := s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.Tool != nil })
	if len(denied) != 2 {
		t.Fatalf("%d replies to two calls", len(denied))
	}
	for _, v := range denied {
		if !strings.Contains(string(v.Reply), `"behavior":"deny"`) || !strings.Contains(string(v.Reply), prompts.PermissionsDenied) {
			t.Errorf("the call reads %s", v.Reply)
		}
		s.plans("deliver " + v.UUID)
	}
}

func TestUnderDenyAClarificationIsAskedAllTheSame(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Permissions = conf.DenyPermissions })
	s.Asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
}
