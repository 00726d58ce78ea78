package procs

import "encoding/json"

// This file is what a call does beyond its own conversation: to other sessions of the same person, now or later.
//
// From about 2.1.329 on every session of a person listens on a socket, and SendMessage starts a turn in any of them
// that runs in the same permission mode, without asking anybody. It reaches an agent's own subagents, too. The CLI
// itself puts into the input whom it has found (recipient_kind), whatever the model has written there: agent and main
// are of the agent's own conversation; session is an address; name is a session, or a subagent that has a name.

// agentID is the form of a subagent's id, in all releases that can send a subagent a message.
var agentID = Lazily(`^a[0-9a-f]{6,40}$`)

// ToSession returns the recipient of a message that could go to another session of the person, "" for any other call.
func (c BeforeCall) ToSession() string {
	if c.Tool != "SendMessage" {
		return ""
	}
	var in struct {
		To   string  `json:"to"`
		Kind *string `json:"recipient_kind"`
	}
	err := json.Unmarshal(c.Input, &in)
	switch {
	case err != nil: // of another type: the CLI has its own reading of it
	case in.Kind != nil && (*in.Kind == "agent" || *in.Kind == "main"):
		return ""
	case in.Kind == nil && (in.To == "main" || agentID().MatchString(in.To)): // 2.1.200, which reaches these alone
		return ""
	}
	if in.To == "" {
		return "nobody"
	}
	return Cut(in.To, MaxShown)
}

// Outlives reports whether a call leaves something behind that starts prompts in a later session of the person:
// CronCreate with durable, in any form in which the CLI could take it for true.
func (c BeforeCall) Outlives() bool {
	var in map[string]json.RawMessage
	if c.Tool != "CronCreate" {
		return false
	}
	if json.Unmarshal(c.Input, &in) != nil {
		return true
	}
	durable, given := in["durable"]
	return given && !notDurable().Match(durable)
}

// notDurable is what the CLI, too, reads as no.
var notDurable = Lazily(`^(false|null|"(?i:false)")$`)
