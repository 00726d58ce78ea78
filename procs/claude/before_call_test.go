package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/procs"
)

func TestWhatIsDecidedOfACallBeforeItIsMade(t *testing.T) {
	spec := procs.Spec{Briefing: "BRIEF ", CheckCall: func(c procs.BeforeCall) procs.CallCheck {
		switch {
		case c.Cwd == "/home" && c.ToolUse == "t" && c.Agent == "" && string(c.Input) == `{"command":"x"}`:
			return procs.CallCheck{Ask: "it is so"}
		case c.Tool == "Bash" && c.Agent == "a1":
			return procs.CallCheck{Deny: "not you"}
		}
		return procs.CallCheck{}
	}}
	const ask = `{"tool_name":"Bash","tool_input":{"command":"x"},"cwd":"/home","tool_use_id":"t"}`
	output := func(said string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + said + `}}`
	}
	for _, c := range []struct{ name, hook, want string }{
		{"one to ask about", ask, output(`"permissionDecision":"ask","permissionDecisionReason":"it is so"`)},
		{"one to ask about, in a mode that may ask nobody",
			strings.Replace(ask, "{", `{"permission_mode":"bypassPermissions",`, 1),
			output(`"permissionDecision":"deny","permissionDecisionReason":"it is so` + bypassed + `"`)},
		{"one to refuse", `{"tool_name":"Bash","tool_input":{"command":"x"},"agent_id":"a1"}`,
			output(`"permissionDecision":"deny","permissionDecisionReason":"not you"`)},
		{"another", `{"tool_name":"Bash","tool_input":{"command":"y"},"cwd":"/home","tool_use_id":"t"}`, `{}`},
		{"a start", `{"tool_name":"Agent","tool_input":{"prompt":"do \"it\"","n":1234567890123456789}}`,
			output(`"updatedInput":{"n":1234567890123456789,"prompt":"BRIEF do \"it\""}`)},
		{"a start by its older name", `{"tool_name":"Task","tool_input":{"prompt":"x"}}`,
			output(`"updatedInput":{"prompt":"BRIEF x"}`)},
		{"no start", `{"tool_name":"Read","tool_input":{"prompt":"x"}}`, `{}`},
		{"a start without a prompt", `{"tool_name":"Agent","tool_input":{"prompt":3}}`, `{}`},
		{"a start without input", `{"tool_name":"Agent"}`, `{}`},
		{"no call", `[]`, output(`"permissionDecision":"deny","permissionDecisionReason":"` + unread + `"`)},
		{"no tool", `{}`, output(`"permissionDecision":"deny","permissionDecisionReason":"` + unread + `"`)},
		{"no JSON", `{`, output(`"permissionDecision":"deny","permissionDecisionReason":"` + unread + `"`)},
	} {
		answer, refused := launch(spec).checked(json.RawMessage(c.hook), true, procs.CallCheck{})
		got, err := json.Marshal(answer)
		if err != nil || string(got) != c.want || (refused != "") != strings.Contains(c.want, `"deny"`) {
			t.Errorf("%s: %s, %q (%v)", c.name, got, refused, err)
		}
	}
	answer, refused := launch(spec).checked(json.RawMessage(ask), false, procs.CallCheck{})
	if got := fmt.Sprint(answer); !strings.Contains(got, "permissionDecision:deny") || refused == "" {
		t.Errorf("where nobody would be asked it is %s, %q", got, refused)
	}
}

func TestWhatAConversationIsToldAfterItsCompaction(t *testing.T) {
	spec := procs.Spec{Briefing: "a part of a-1", AfterCompaction: "you are a-1"}
	output := func(text string) string {
		return `{"hookSpecificOutput":{"additionalContext":"` + text + `","hookEventName":"SessionStart"}}`
	}
	for _, c := range []struct {
		name string
		spec procs.Spec
		hook string
		want string
	}{
		{"the agent's own", spec, `{"source":"compact"}`, output("you are a-1")},
		{"a subagent's", spec, `{"source":"compact","agent_id":"a1"}`, output("a part of a-1")},
		{"what cannot be read", spec, `[`, output("you are a-1")},
		{"nothing to tell", procs.Spec{}, `{}`, `{}`},
	} {
		if got, err := json.Marshal(launch(c.spec).afterCompaction(json.RawMessage(c.hook))); err != nil || string(got) != c.want {
			t.Errorf("%s: %s (%v)", c.name, got, err)
		}
	}
}

// The hooks of ours outlast any wait, and what fails blocks: see hookTimeout and Hooks.
const firstInput = `{"request":{"hooks":{"PreToolUse":[{"hookCallbackIds":["call"],` +
	`"matcher":"^(?!mcp__supervise__).*","onFailure":"block","timeout":2000000}],` +
	`"SessionStart":[{"hookCallbackIds":["compact"],"matcher":"compact","timeout":2000000}],` +
	`"Stop":[{"hookCallbackIds":["stop"],"matcher":null,"timeout":2000000}]},"subtype":"initialize"},` +
	`"request_id":"initialize","type":"control_request"}`
