package procs

import "encoding/json"

// askedFirst answers the hook before a call: whether a person is asked, whatever permits it.
func askedFirst(input json.RawMessage, why func(tool string, input json.RawMessage, cwd string) string) any {
	var hook struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
		Cwd   string          `json:"cwd"`
	}
	if json.Unmarshal(input, &hook) != nil {
		return map[string]any{}
	}
	reason := why(hook.Tool, hook.Input, hook.Cwd)
	if reason == "" {
		return map[string]any{}
	}
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse",
		"permissionDecision": "ask", "permissionDecisionReason": reason}}
}
