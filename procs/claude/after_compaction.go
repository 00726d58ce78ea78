package claude

import "encoding/json"

// afterCompaction answers the hook after a conversation was compacted: with what stands in the first request after
// that, in the middle of a turn as well. 2.1.7 to 2.1.200 do not say that it is a subagent's.
func (s launch) afterCompaction(hook json.RawMessage) map[string]any {
	var in struct {
		Agent string `json:"agent_id"`
	}
	_ = json.Unmarshal(hook, &in) // what cannot be read names no subagent
	text := s.AfterCompaction
	if in.Agent != "" {
		text = s.Briefing
	}
	if text == "" {
		return map[string]any{}
	}
	return map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "SessionStart", "additionalContext": text,
	}}
}
