package procs

import (
	"encoding/json"
	"testing"
)

func TestASubagentsPromptGetsItsBriefing(t *testing.T) {
	for _, c := range []struct{ name, hook, want string }{
		{"a start", `{"tool_name":"Agent","tool_input":{"prompt":"do \"it\"","run_in_background":false,"n":12345678901234567890}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` +
				`{"n":12345678901234567890,"prompt":"BRIEF do \"it\"","run_in_background":false}}}`},
		{"by its older name", `{"tool_name":"Task","tool_input":{"prompt":"x"}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"prompt":"BRIEF x"}}}`},
		{"another call", `{"tool_name":"Bash","tool_input":{"prompt":"x"}}`, `{}`},
		{"no prompt", `{"tool_name":"Agent","tool_input":{"prompt":3}}`, `{}`},
		{"no input", `{"tool_name":"Agent"}`, `{}`},
		{"no JSON", `{`, `{}`},
	} {
		got, err := json.Marshal(briefed(json.RawMessage(c.hook), "BRIEF "))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s (%v)", c.name, got, err)
		}
	}
}
