package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"claude-supervise/procs"
)

// The CLI is a client of our tools over the two streams that it has open anyway (SDK MCP). The rules, as releases 2.1.7
// to 2.1.329 keep them:
//
//   - Each JSON-RPC message of the client is a control request of its own (mcp_message). A request is answered by a
//     control response with the JSON-RPC response in it, a notification by one with an empty result.
//   - Releases before 2.1.329 have two clients under the one name: initialize comes twice, and two requests may have
//     the same id. What tells requests apart is the id of the control request.
//   - The line with the assistant's call comes before the request that it leads to, but for subagents of 2.1.200, where
//     it may come just after.
//   - An error of either protocol is what the model reads as the tool's error.
//   - A call is withdrawn by notifications/cancelled; after that nothing is written for it.

// serverName is ours among the CLI's MCP servers; ToolPrefix begins the names that our tools have to it.
const (
	serverName = "supervise"
	ToolPrefix = "mcp__" + serverName + "__"
)

// mcpConfig names it to the CLI.
const mcpConfig = `{"mcpServers":{"` + serverName + `":{"type":"sdk","name":"` + serverName + `"}}}`

// maxCall is how long a message of the client may be, in bytes: no person reads a question that long.
const maxCall = 1 << 20

// An mcpMessage is a JSON-RPC message of the client. Of the call of a tool it tells which it is, and whose.
type mcpMessage struct {
	procs.Own
	Request, Server string
	Message         json.RawMessage
	ToolUse         string
	Line            string `json:",omitempty"`
	From            procs.Subagent
}

// mcpVersion is the newest version of MCP that begins with initialize. What we serve is the same in all of them.
const mcpVersion = "2025-11-25"

// A toolServer serves Spec.Tools to one child. Only the goroutine that reads the child uses it.
type toolServer struct {
	d      *dialogue
	list   []listedTool
	inputs map[string]func() (*input, error) // by the tool's name
	begun  bool                              // by an initialize
}

// serveTools makes the server of the process's tools, if it has any. It fails if the schema of one is not one of an
// object. The rest of a schema is looked at with the first call of its tool: it takes 0.5 ms each, which the start
// would wait for.
func (d *dialogue) serveTools() error {
	if len(d.Spec.Tools) == 0 {
		return nil
	}
	s := &toolServer{d: d, inputs: make(map[string]func() (*input, error), len(d.Spec.Tools))}
	for _, t := range d.Spec.Tools {
		if err := describesObject(t.Schema); err != nil {
			return fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		s.inputs[t.Name] = sync.OnceValues(func() (*input, error) { return newInput(t.Schema) })
		s.list = append(s.list, listedTool{
			Name: t.Name, Description: t.Description, InputSchema: t.Schema,
			Meta: map[string]any{"anthropic/alwaysLoad": true}, // else the model has to search for it first
		})
	}
	d.tools = s
	return nil
}

// receive takes a message of the client, on the goroutine that reads the child. It returns when the answer is on its
// way, or the message is handed over as a Call.
func (d *dialogue) receive(m mcpMessage) {
	if err := d.tools.accept(m); err != nil {
		d.refuse(m.Request, err.Error())
	}
}

var errNoRequest = errors.New("nothing was asked that this could answer")

// accept fails if nothing can be made of the message, which then is not answered yet.
func (s *toolServer) accept(m mcpMessage) error {
	if s == nil || m.Server != serverName {
		return fmt.Errorf("there is no MCP server %.60q", m.Server)
	}
	if len(m.Message) > maxCall {
		return fmt.Errorf("the call has %d bytes of at most %d: put what is long into a file, and name the file",
			len(m.Message), maxCall)
	}
	req, err := readRequest(m.Message)
	if err != nil {
		return err
	}
	if req.ID == "" {
		if req.Method == "notifications/cancelled" {
			s.cancelled(req)
		}
		s.d.reply(func() error { return s.d.respondMCP(m.Request, notified) })
		return nil
	}
	answer := func(result any, err error) {
		s.d.reply(func() error { return s.d.answerMCP(m.Request, req.ID, result, err) })
	}
	if req.Method == "tools/call" && s.begun {
		s.call(m, req, answer)
	} else {
		answer(s.result(req))
	}
	return nil
}

// result returns what answers a request other than a call.
func (s *toolServer) result(req rpcRequest) (any, error) {
	switch req.Method {
	case "initialize":
		var params initializeParams
		if err := readParams(req, &params); err != nil {
			return nil, err
		}
		s.begun = true
		return initializeResult{
			ProtocolVersion: min(cmp.Or(params.ProtocolVersion, mcpVersion), mcpVersion),
			ServerInfo:      implementation{Name: serverName, Version: "1"},
		}, nil
	case "ping":
		return struct{}{}, nil
	case "tools/list", "tools/call":
		if !s.begun {
			return nil, &rpcError{Code: rpcInvalidRequest, Message: "it has to begin with initialize"}
		}
		return listToolsResult{Tools: s.list, CacheScope: "private"}, nil
	}
	return nil, &rpcError{Code: rpcMethodNotFound, Message: "method not found: only tools are served here"}
}

// readParams reads the parameters of a request, which has to have some.
func readParams(req rpcRequest, params any) error {
	if err := json.Unmarshal(req.Params, params); err != nil {
		return &rpcError{Code: rpcInvalidParams,
			Message: "the parameters of " + procs.Cut(req.Method, procs.MaxShown) + " cannot be read"}
	}
	return nil
}

// notified answers a notification: the CLI waits for something in the form of a response.
var notified = json.RawMessage(`{"jsonrpc":"2.0","id":0,"result":{}}`)

// answerMCP answers a control request with the result of the JSON-RPC request in it, or with its error. It blocks until
// the child has taken that into its pipe; the error is errGone after the end.
func (d *dialogue) answerMCP(request string, id rpcID, result any, failed error) error {
	data, err := writeResponse(id, result, failed)
	if err != nil {
		return fmt.Errorf("answer a call: %w", err) // no result of ours is such
	}
	return d.respondMCP(request, data)
}

// respondMCP answers a control request with a JSON-RPC response.
func (d *dialogue) respondMCP(request string, response json.RawMessage) error {
	return d.respond(request, struct {
		Response json.RawMessage `json:"mcp_response"`
	}{response})
}
