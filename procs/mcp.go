package procs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The CLI is a client of our tools over the two streams that it has open anyway (SDK MCP). The rules, as releases 2.1.7
// to 2.1.329 keep them:
//
//   - Each JSON-RPC message of the client is a control request of its own (mcp_message). A request is answered by a
//     control response with the JSON-RPC response in it, a notification by one with an empty result.
//   - Releases before 2.1.329 have two clients under the one name: initialize comes twice, and two requests may have the
//     same id. What tells requests apart is the id of the control request.
//   - The line with the assistant's call comes before the request that it leads to, but for subagents of 2.1.200, where it
//     may come just after.
//   - An error of either protocol is what the model reads as the tool's error.
//   - A call is withdrawn by notifications/cancelled; after that nothing is written for it.

// serverName is ours among the CLI's MCP servers; ToolPrefix begins the names that our tools have to it.
const (
	serverName = "supervise"
	ToolPrefix = "mcp__" + serverName + "__"
)

// mcpConfig names it to the CLI.
const mcpConfig = `{"mcpServers":{"` + serverName + `":{"type":"sdk","name":"` + serverName + `"}}}`

// A Tool is one that we serve inside the child, to the main conversation and to its subagents.
type Tool struct {
	Name        string          // without the server's
	Description string          // for the model
	Schema      json.RawMessage // of its input: a JSON Schema (draft 2020-12) of type object
}

// maxCall is how long a message of the client may be, in bytes: no person reads a question that long.
const maxCall = 1 << 20

// An mcpMessage is a JSON-RPC message of the client. Of the call of a tool it tells which it is, and whose.
type mcpMessage struct {
	Request, Server string
	Message         json.RawMessage
	ToolUse         string
	From            Subagent
}

func (mcpMessage) message() {}

// A toolServer serves Spec.Tools to one child. It has no goroutine before the child's first message to it; then there is
// one that waits for messages, and one for each call that waits.
type toolServer struct {
	p       *Process
	inputs  map[string]*input // by the tool's name
	conn    *toolConn
	session *mcp.ServerSession // nil before the first message
	hello   mcp.Result         // the answer to the first initialize

	// The session is given one request at a time: the next once the one before has its answer, or is a call that waits. So
	// calls are told in the order in which the child has printed them.
	arriving *rpcRequest
}

// serveTools makes the server of the process's tools. It fails if the schema of one is none.
func (p *Process) serveTools() (*toolServer, error) {
	s := &toolServer{p: p, inputs: make(map[string]*input, len(p.spec.Tools)), conn: newToolConn(p)}
	for _, t := range p.spec.Tools {
		in, err := newInput(t.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		s.inputs[t.Name] = in
	}
	return s, nil
}

// connect begins the session.
func (s *toolServer) connect() error {
	server := mcp.NewServer(&mcp.Implementation{Name: serverName, Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.p.spec.Tools {
		server.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Schema,
			Meta: mcp.Meta{"anthropic/alwaysLoad": true}, // else the model has to search for it first
		}, s.call)
	}
	server.AddReceivingMiddleware(s.only)
	var err error
	s.session, err = server.Connect(context.Background(), s.conn, nil)
	return err
}

// only lets through what a client has to ask for its tools, and answers a second client as the first.
func (s *toolServer) only(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize":
			if s.hello != nil {
				return s.hello, nil
			}
			hello, err := next(ctx, method, req)
			if err == nil {
				s.hello = hello
			}
			return hello, err
		case "notifications/initialized", "ping", "tools/list", "tools/call":
			return next(ctx, method, req)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "only tools are served here"}
	}
}

// receive takes a message of the client, on the goroutine that reads the child. It returns when that has an answer, or is
// handed over as a Call.
func (p *Process) receive(m mcpMessage) {
	if err := p.tools.accept(m); err != nil {
		p.refuse(m.Request, err.Error())
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
	message, err := jsonrpc.DecodeMessage(m.Message)
	if err != nil {
		return fmt.Errorf("this is no JSON-RPC message: %w", err)
	}
	req, ok := message.(*jsonrpc.Request)
	if !ok {
		return errNoRequest
	}
	if s.session == nil {
		if err := s.connect(); err != nil {
			return err
		}
	}
	if req.IsCall() {
		s.request(m, req)
		return nil
	}
	switch req.Method {
	case "notifications/initialized":
		s.conn.pass(req)
	case "notifications/cancelled":
		s.cancelled(req)
	}
	s.p.reply(func() error { return s.p.respondMCP(m.Request, notified) })
	return nil
}

// notified answers a notification: the CLI waits for something in the form of a response.
var notified = json.RawMessage(`{"jsonrpc":"2.0","id":0,"result":{}}`)

// close ends the session and waits for its goroutines. The process is gone, so nothing blocks them.
func (s *toolServer) close() {
	if s != nil && s.session != nil {
		_ = s.conn.Close()
		_ = s.session.Wait()
	}
}
