package procs

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestACallIsAskedAboutWhereThereIsAReason(t *testing.T) {
	why := func(tool string, input json.RawMessage, cwd string) string {
		if tool == "Bash" && string(input) == `{"command":"x"}` && cwd == "/home" {
			return "it is so"
		}
		return ""
	}
	for hook, want := range map[string]string{
		`{"tool_name":"Bash","tool_input":{"command":"x"},"cwd":"/home"}`: `{"hookSpecificOutput":{"hookEventName":` +
			`"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"it is so"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"y"},"cwd":"/home"}`: `{}`,
		`[]`: `{}`,
	} {
		got, err := json.Marshal(askedFirst(json.RawMessage(hook), why, true))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v)", hook, got, err)
		}
	}
	refused, err := json.Marshal(askedFirst(json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"x"},`+
		`"cwd":"/home"}`), why, false))
	if err != nil || !strings.Contains(string(refused), `"permissionDecision":"deny"`) {
		t.Errorf("where nobody would be asked it is %s (%v)", refused, err)
	}
	hooks, err := json.Marshal(Spec{AskFirst: why}.initialize())
	want := `{"request":{"hooks":{"PreToolUse":[{"hookCallbackIds":["call"],` +
		`"matcher":"Bash|Write|Edit|MultiEdit|NotebookEdit|mcp__(?!supervise__).*"}],` +
		`"Stop":[{"hookCallbackIds":["stop"],"matcher":null}]},"subtype":"initialize"},` +
		`"request_id":"initialize","type":"control_request"}`
	if err != nil || string(hooks) != want {
		t.Errorf("the hooks are %s (%v)", hooks, err)
	}
}
