package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

func TestATaskIsOneTextWithItsPartsUnderHeadings(t *testing.T) {
	whole := Brief{
		Context:         "The service is in ./api.\nIt has no accounts.\n",
		Goals:           []string{"people can log in", "and out,\nof course"},
		SuccessCriteria: []string{"the tests pass"}, Deliverables: []string{"auth.go", "docs/auth.md: why"},
	}
	const want = `Add a login.

## CONTEXT

The service is in ./api.
It has no accounts.

## GOALS

- people can log in
- and out,
  of course

## SUCCESS CRITERIA

Your report says of each, under metrics_achieved and in these words, how it was met.

- the tests pass

## DELIVERABLES

They are looked for on disk when you report.

- auth.go
- docs/auth.md: why`
	if diff := cmp.Diff(want, whole.Compose("Add a login.\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := (Brief{Goals: []string{"x"}}).Compose("Do it"); got != "Do it\n\n## GOALS\n\n- x" {
		t.Errorf("with goals alone the agent reads %q", got)
	}
	if got := (Brief{}).Compose("  Write\n\na poem  "); got != "  Write\n\na poem  " {
		t.Errorf("a prompt alone was changed to %q", got)
	}
}

func TestAnAgentKeepsWhatItsTaskWantsOfIt(t *testing.T) {
	s, err := Step(State{}, Happened{Event: Created{
		Run: "r-1", Agent: Root, Task: "Add a login", SuccessCriteria: []string{"the tests pass"},
		Deliverables: []string{"auth.go"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Agents[Root]
	if !slices.Equal(a.SuccessCriteria, []string{"the tests pass"}) || !slices.Equal(a.Deliverables, []string{"auth.go"}) {
		t.Errorf("the agent keeps %q and %q", a.SuccessCriteria, a.Deliverables)
	}
}

func TestAHoldIsADurationZeroOrForever(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "0": 0, "1h30m": 90 * time.Minute,
		"forever": Forever} {
		if got, err := ParseHold(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "-1s", "5", "Forever"} {
		if got, err := ParseHold(text); err == nil {
			t.Errorf("%q is a hold of %v", text, got)
		}
	}
}

func TestAModelIsANameAndNoFlag(t *testing.T) {
	for _, name := range []string{"opus", "claude-opus-4-1[1m]",
		"us.anthropic.claude-v1:0", "arn:aws:bedrock:eu/profile@2"} {
		if err := CheckModel(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "-p", "--model", "opus plan", "opus\n", "$(id)", "a;b"} {
		if CheckModel(name) == nil {
			t.Errorf("%q is taken for a model", name)
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
	s := Begin(t, func(c *Config) { c.Permissions = DenyPermissions })
	before := s.State
	permission(s, "1")
	if n := len(s.State.Questions); n != 0 {
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
	s := Begin(t, func(c *Config) { c.Permissions = DenyPermissions })
	s.Asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
}
