package claude

import (
	"encoding/json"
	"strings"

	"claude-supervise/examples"
	"claude-supervise/signals"
)

// This file is the supervisor's side of MCP over the stream, in its simplest form.

// prefix begins the names of the supervisor's tools, as the model knows them.
const prefix = "mcp__supervise__"

// serves reports whether a scenario calls tools of the supervisor.
func serves(s examples.Scenario) bool {
	for _, turn := range s.Turns {
		for _, r := range turn.Replies {
			for _, tool := range r.Tools {
				if strings.HasPrefix(tool.Name, prefix) {
					return true
				}
			}
		}
	}
	return false
}

// greet answers what the CLI asks of a server before it makes a call.
func (p *process) greet(l line) {
	if l.kind() != "control_request/mcp_message" {
		return
	}
	switch l.text("request", "message", "method") {
	case "initialize":
		p.result(l, map[string]any{
			"protocolVersion": l.at("request", "message", "params", "protocolVersion"),
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "supervise", "version": "1"},
		})
	case "tools/list":
		tools := []map[string]any{}
		for _, t := range signals.Tools() {
			tools = append(tools, map[string]any{
				"name": t.Name, "description": t.Description, "inputSchema": json.RawMessage(t.Schema),
				"_meta": map[string]any{"anthropic/alwaysLoad": true},
			})
		}
		p.result(l, map[string]any{"tools": tools})
	case "tools/call":
	default: // a notification: what it gets says nothing
		p.respond(l, map[string]any{"mcp_response": map[string]any{"jsonrpc": "2.0", "id": 0, "result": map[string]any{}}})
	}
}

// result answers a message of MCP.
func (p *process) result(to line, result map[string]any) {
	p.respond(to, map[string]any{"mcp_response": map[string]any{
		"jsonrpc": "2.0", "id": to.at("request", "message", "id"), "result": result,
	}})
}

// answer gives a call its result.
func (p *process) answer(call line, text string) {
	p.result(call, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

// call reads up to the next call of a tool of the supervisor.
func (p *process) call() line {
	p.s.t.Helper()
	for {
		if l := p.until("control_request/mcp_message"); l.text("request", "message", "method") == "tools/call" {
			return l
		}
	}
}

// finishAndCall reads up to the end of a turn and a call of a subagent that goes on beside it, whichever comes first.
func (p *process) finishAndCall(last string) (call line) {
	p.s.t.Helper()
	for finished := false; !finished || call == nil; {
		l := p.until("control_request/hook_callback", "command_lifecycle", "control_request/mcp_message")
		switch {
		case l.kind() == "control_request/hook_callback":
			p.respond(l, map[string]any{})
		case l.text("request", "message", "method") == "tools/call":
			call = l
		case l.text("command_uuid") == p.s.uuid(last) && l.text("state") == "completed":
			finished = true
		}
	}
	return call
}
