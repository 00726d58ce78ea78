package claude

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// This file is what MCP servers of the person's own ask in the middle of a call (elicitation). From 2.1.76 on the CLI
// hands it over as a control request, which does not name the call:
//
//	{"subtype":"elicitation","mcp_server_name":S,"message":M,"mode":"form","requested_schema":{…},"property_order":[…]}
//	{"subtype":"elicitation","mcp_server_name":S,"message":M,"mode":"url","url":U,"elicitation_id":E}
//
// It is answered by {"action":"accept|decline|cancel","content":{…}}. A server of 2026-07-28 returns what it asks as
// the result of the call (input_required); the CLI hands over the same requests, and makes the call again with the
// answers. Measured on 2.1.332, for both, over stdio and HTTP:
//
//   - An error as the answer, one that is not of this form, an interrupt of the turn and the end of our input: the
//     server is told "cancel", as if a person had dismissed it. None of these is sent while one waits.
//   - No answer: the call waits, without end. SIGTERM, SIGHUP and SIGKILL: the server is told nothing.
//   - All that a server asks at once comes at once. The content of an accept is not compared with the form.
//
// When the process ends a server on its streams does, too, and the call's result is "Connection closed".

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
	Withheld
}

// Withheld says of an Elicitation that it cannot be handed over as it is, and why: only the beginning of its message
// is. It waits all the same: a person decides what the server is told.
type Withheld struct {
	Why  string `json:"withheld,omitempty"` // after "It": "has 70000 bytes"; "": it is whole
	Hash string `json:"hash,omitempty"`     // of all of it
}

// Bounds on what servers ask for: of one in bytes, and of what one server asks at once in numbers. What is beyond the
// second is gathered, and answered alike; beyond the third nothing is answered.
const (
	maxElicitation = 64 << 10
	maxElicited    = 32
	maxGathered    = 10_000
)

// elicits makes an Ask of an elicitation. Of several calls of the server that are under way it is taken to come from
// the last.
func (d *decoder) elicits(id string, r *controlRequest) procs.Message {
	asked := r.Elicitation
	asked.Withheld = Withheld{} // ours to say
	// A message that is no text is one that nobody can read; the server's answer is asked for all the same.
	_ = json.Unmarshal(r.Message, &asked.Message)
	input, err := json.Marshal(asked)
	if err != nil || len(input) > maxElicitation {
		input = withheld(asked, fmt.Sprintf("has %d bytes, of at most %d", len(input), maxElicitation), input)
	}
	name := serverPrefix(asked.Server)
	call := d.serverCalls.last(name + "__")
	return procs.Ask{Request: id, ToolUse: call, Name: name, Input: input, From: d.subagents.caller(call, "", ""),
		Elicits: true}
}

// withheld returns the beginning of what is not handed over.
func withheld(asked Elicitation, why string, whole []byte) json.RawMessage {
	hash := ""
	if len(whole) > 0 {
		hash = fmt.Sprintf("%x", sha256.Sum256(whole))
	}
	// texts alone give no error
	input, _ := json.Marshal(Elicitation{Server: procs.Cut(asked.Server, procs.MaxShown),
		Message: procs.Cut(asked.Message, procs.MaxShown/2), Withheld: Withheld{Why: why, Hash: hash}})
	return input
}

// serverCalls are the calls of MCP servers that are under way, oldest first.
type serverCalls []stream.Block

func (s *serverCalls) begin(b stream.Block) {
	if !strings.HasPrefix(b.Name, "mcp__") || len(b.ID) > maxID || len(b.Name) > maxID {
		return
	}
	if len(*s) == maxWaiting {
		*s = (*s)[1:]
	}
	*s = append(*s, stream.Block{ID: b.ID, Name: b.Name})
}

func (s *serverCalls) end(toolUse string) {
	*s = slices.DeleteFunc(*s, func(b stream.Block) bool { return b.ID == toolUse })
}

// last returns the newest call of a tool whose name begins so, "" if there is none.
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
	}, procs.Cut(server, procs.MaxShown))
}

// elicited lets what a server asks wait, and hands it over. It runs on the goroutine that reads the child.
func (d *dialogue) elicited(m procs.Ask) {
	as, err := d.waiting.elicit(m.Request, m.Name)
	switch {
	case errors.Is(err, errTwice):
		d.twice(m.Request)
	case err != nil:
		if !d.unheard {
			d.unheard = true
			d.Tell(procs.Activity{Text: "MCP servers ask more than is let wait at once: what is beyond gets no answer, " +
				"and its calls wait until the agent is stopped"})
		}
	case as == m.Request:
		d.Tell(m)
	case as != "":
		var asked Elicitation
		_ = json.Unmarshal(m.Input, &asked) // it is ours
		m.Request, m.Input = as, withheld(Elicitation{Server: asked.Server},
			fmt.Sprintf("is all that the server asks beyond %d things at once", maxElicited), nil)
		d.Tell(m)
	}
}

// Elicit answers an Ask that Elicits: accept, with the content that the form asks for, if any, decline or cancel. It
// blocks and fails as Allow does.
func (d *dialogue) Elicit(request, action string, content json.RawMessage) error {
	switch action {
	case "accept", "decline", "cancel":
	default:
		return errNoAction
	}
	r, err := d.claim(request, byElicit)
	if err != nil {
		return err
	}
	answer := struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, content}
	if r.gathered == nil {
		return d.respond(request, answer)
	}
	for _, id := range r.gathered {
		if err := d.respond(id, answer); err != nil {
			return err
		}
	}
	return nil
}
