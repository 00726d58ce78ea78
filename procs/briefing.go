package procs

import "encoding/json"

// briefed answers the hook before a call that starts a subagent: with its prompt, and what stands before that. It
// decides nothing on whether the call is permitted. What is no such call is left as it is.
func briefed(input json.RawMessage, briefing string) any {
	var hook struct {
		Tool  string                     `json:"tool_name"`
		Input map[string]json.RawMessage `json:"tool_input"`
	}
	var prompt string
	if json.Unmarshal(input, &hook) != nil || json.Unmarshal(hook.Input["prompt"], &prompt) != nil ||
		!StartsSubagent(hook.Tool) {
		return map[string]any{}
	}
	whole, err := json.Marshal(briefing + prompt)
	if err != nil {
		return map[string]any{}
	}
	hook.Input["prompt"] = whole
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse", "updatedInput": hook.Input}}
}
