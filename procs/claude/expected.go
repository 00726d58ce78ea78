package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"claude-supervise/procs"
)

// This file is how a call that the CLI has refused is made all the same, once, because a person has allowed it: the
// hook before the call is asked by the CLI whatever its mode is, and what it allows only a rule refuses. So a call that
// is expected is asked about by the hook, and every other goes its usual way.

// maxKept is how large the input of a call may be that is kept until its result, in bytes: of a larger one a person
// could not be shown all.
const maxKept = 60 << 10

// expectable returns a call as the hook before it has it, and keeps it in case it is refused; nil if nothing is asked
// about refused calls, or it is none to ask about.
func (d *decoder) expectable(request string, hook json.RawMessage) *procs.Ask {
	var in struct {
		ToolUse string          `json:"tool_use_id"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"tool_input"`
		Agent   string          `json:"agent_id"`
		Cwd     string          `json:"cwd"`
	}
	if !d.asksRefused || json.Unmarshal(hook, &in) != nil || in.ToolUse == "" || in.Tool == "" {
		return nil
	}
	kept := d.keep(procs.Ask{ToolUse: in.ToolUse, Name: in.Tool, Input: in.Input, Cwd: in.Cwd,
		From: d.subagents.caller(in.ToolUse, in.Agent, in.Tool), Line: d.places.get(in.ToolUse).line})
	if kept == nil {
		return nil
	}
	expected := *kept
	expected.Request = request
	return &expected
}

// keep keeps a call until its result is there; nil: it is too large.
func (d *decoder) keep(call procs.Ask) *procs.Ask {
	if len(call.Input) > maxKept {
		return nil
	}
	call.Refused, call.Input = true, canonical(call.Input)
	d.places.at(call.ToolUse).call = &call
	return &call
}

// canonical writes an object without space, its members in order. Their values stay as they are, to the byte.
func canonical(input json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || members == nil {
		return input
	}
	for name := range members {
		if strings.ContainsRune(name, utf8.RuneError) {
			return input // another name may have been read as this one
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(members) != nil {
		return input
	}
	return bytes.TrimSpace(out.Bytes())
}

// Expect implements procs.Talk.
func (d *dialogue) Expect(calls []string) {
	expected := make(map[string]bool, len(calls))
	for _, key := range calls {
		expected[key] = true
	}
	d.expected.Store(&expected)
}

// expects reports whether the supervisor is asked about a call by the hook before it.
func (d *dialogue) expects(call *procs.Ask) bool {
	expected := d.expected.Load()
	return expected != nil && (*expected)[procs.CallKey(call.Name, call.Input)]
}

// answerHook answers the hook before a call with what was decided about it. What is never to be made is not made, and
// what is left alone is decided as any other call.
func (d *dialogue) answerHook(request string, hook json.RawMessage, decided procs.CallCheck) error {
	answer, refused := launch(d.Spec).checked(hook, d.hookAsks.Load(), decided)
	if refused != "" {
		d.Tell(procs.Activity{Text: refused})
	}
	return d.respond(request, answer)
}
