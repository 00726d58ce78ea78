package procs

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// This file is what MCP servers of the person's own ask in the middle of a call (elicitation). From 2.1.76 on the CLI
// hands it over as a control request, which does not name the call:
//
//	{"subtype":"elicitation","mcp_server_name":S,"message":M,"mode":"form","requested_schema":{…},"property_order":[…]}
//	{"subtype":"elicitation","mcp_server_name":S,"message":M,"mode":"url","url":U,"elicitation_id":E}
//
// It is answered by {"action":"accept|decline|cancel","content":{…}}. When the process ends the server does, too, and
// the call's result is "Connection closed".

// errNoAction says that an elicitation cannot be answered so.
var errNoAction = errors.New("answer an MCP server: its action is not one of accept, decline and cancel")

// An Elicitation is what an MCP server asks for: a form, or that an address is opened. All of it is the server's own.
type Elicitation struct {
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`        // not read with the others: of another subtype it is an object
	Mode    string          `json:"mode,omitempty"` // form, url
	Schema  json.RawMessage `json:"requested_schema,omitempty"`
	Order   []string        `json:"property_order,omitempty"` // of the schema's properties
	URL     string          `json:"url,omitempty"`
}

// maxElicitation bounds what a server asks for, in bytes.
const maxElicitation = 64 << 10

// elicits makes an Ask of an elicitation. Of several calls of the server that are under way it is taken to come from
// the last.
func (d *decoder) elicits(id string, r *controlRequest) Message {
	asked := r.Elicitation
	// A message that is no text is one that nobody can read; the server's answer is asked for all the same.
	_ = json.Unmarshal(r.Message, &asked.Message)
	input, err := json.Marshal(asked)
	if err != nil || len(input) > maxElicitation {
		return unanswerable{Request: id, Subtype: r.Subtype + " of more than 64 KiB"}
	}
	name := serverPrefix(asked.Server)
	call := d.serverCalls.last(name + "__")
	return Ask{Request: id, ToolUse: call, Name: name, Input: input, From: d.subagents.caller(call, "", ""), Elicits: true}
}

// serverCalls are the calls of MCP servers that are under way, oldest first.
type serverCalls []block

func (s *serverCalls) begin(b block) {
	if !strings.HasPrefix(b.Name, "mcp__") || len(b.ID) > maxID || len(b.Name) > maxID {
		return
	}
	if len(*s) == maxWaiting {
		*s = (*s)[1:]
	}
	*s = append(*s, block{ID: b.ID, Name: b.Name})
}

func (s *serverCalls) end(toolUse string) {
	*s = slices.DeleteFunc(*s, func(b block) bool { return b.ID == toolUse })
}

// last gives the newest call of a tool whose name begins so, "" if there is none.
func (s *serverCalls) last(prefix string) string {
	for _, b := range slices.Backward(*s) {
		if strings.HasPrefix(b.Name, prefix) {
			return b.ID
		}
	}
	return ""
}

// serverPrefix begins the names of an MCP server's tools, as the CLI makes them.
func serverPrefix(server string) string {
	return "mcp__" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, cut(server, maxShown))
}

// Elicit answers an Ask that Elicits: accept, with the content that the form asks for, if any, decline or cancel. It
// blocks and fails as Allow does.
func (p *Process) Elicit(request, action string, content json.RawMessage) error {
	switch action {
	case "accept", "decline", "cancel":
	default:
		return errNoAction
	}
	if _, err := p.claim(request, byElicit); err != nil {
		return err
	}
	return p.respond(request, struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content})
}
