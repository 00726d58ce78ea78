package procs

import "encoding/json"

// unasked is added to the reason where a call is refused because the release would not ask.
const unasked = " This release of Claude Code would ask nobody, so it is refused: the person can do it."

// askedFirst answers the hook before a call: whether a person is asked, whatever permits it. On a release that does not
// ask for that (Release.HookAsks) the call is refused.
func askedFirst(input json.RawMessage, why func(tool string, input json.RawMessage, cwd string) string, asks bool) any {
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
	decision := "ask"
	if !asks {
		decision, reason = "deny", reason+unasked
	}
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse",
		"permissionDecision": decision, "permissionDecisionReason": reason}}
}
