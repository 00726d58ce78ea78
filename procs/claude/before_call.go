package claude

import (
	"cmp"
	"encoding/json"

	"claude-supervise/procs"
)

// Why a call is refused that nobody has decided about.
const (
	unasked = " This release of Claude Code would ask nobody, so it is refused: the person can do it."
	// With bypassPermissions the CLI makes a call of which its own rules would ask as well (a path in .claude or .git),
	// although a hook wants a person to be asked (2.1.332): nobody is, for whatever else the call does.
	bypassed    = " In the mode bypassPermissions Claude Code may ask nobody, so it is refused: the person can do it."
	allowedOnce = "The person has allowed this call, once."
	unread      = "The supervisor cannot read this call, so it is refused."
)

// checked answers the hook before a call: with whether it is made or asked about, and with the prompt of the subagent
// that it starts, after the briefing. On a release that asks nobody where a hook wants that (Release.HookAsks) the call
// is refused. So is what cannot be read: an answer without a decision would let it run, and so would an error on a
// release that knows no onFailure. refused tells a person of a call that is not made, "" if it may be.
// decided is what was decided of an expected call; what is never made stays so.
func (s launch) checked(hook json.RawMessage, asks bool, decided procs.CallCheck) (answer map[string]any,
	refused string) {
	type call struct { // a BeforeCall, with the names that it has there
		ToolUse string          `json:"tool_use_id"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"tool_input"`
		Agent   string          `json:"agent_id"`
		Cwd     string          `json:"cwd"`
	}
	var in struct {
		call
		Mode string `json:"permission_mode"`
	}
	var check procs.CallCheck
	if err := json.Unmarshal(hook, &in); err != nil || in.Tool == "" {
		check.Deny = unread
	} else if s.CheckCall != nil {
		check = s.CheckCall(procs.BeforeCall(in.call))
	}
	check.Deny, check.Allow = cmp.Or(check.Deny, decided.Deny), decided.Allow
	switch {
	case check.Deny != "" || check.Ask == "" || check.Allow:
	case !asks:
		check.Deny = check.Ask + unasked
	case in.Mode == "bypassPermissions":
		check.Deny = check.Ask + bypassed
	}
	said := map[string]any{}
	switch {
	case check.Deny != "":
		said["permissionDecision"], said["permissionDecisionReason"] = "deny", check.Deny
		refused = procs.Cut(in.Tool+" is refused: "+check.Deny, procs.MaxShown)
	case check.Allow:
		said["permissionDecision"], said["permissionDecisionReason"] = "allow", allowedOnce
	case check.Ask != "":
		said["permissionDecision"], said["permissionDecisionReason"] = "ask", check.Ask
	}
	if input := s.briefed(in.Tool, in.Input); input != nil {
		said["updatedInput"] = input
	}
	if len(said) == 0 {
		return said, ""
	}
	said["hookEventName"] = "PreToolUse"
	return map[string]any{"hookSpecificOutput": said}, refused
}

// briefed returns the input of a call that starts a subagent with the briefing before its prompt, nil for any other.
func (s launch) briefed(tool string, input json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	var prompt string
	if s.Briefing == "" || !StartsSubagent(tool) || json.Unmarshal(input, &members) != nil ||
		json.Unmarshal(members["prompt"], &prompt) != nil {
		return nil
	}
	whole, err := json.Marshal(s.Briefing + prompt)
	if err != nil {
		return nil
	}
	members["prompt"] = whole
	return members
}
