package procs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A toolConn is the session's connection: it reads what pass is given, and what it writes answers the control request
// that the JSON-RPC request came in. Between it and the session requests are numbered by the ids of those.
type toolConn struct {
	p      *Process
	toRead chan jsonrpc.Message
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	underway map[string]*rpcRequest // by the id of the control request
}

func newToolConn(p *Process) *toolConn {
	return &toolConn{
		p: p, toRead: make(chan jsonrpc.Message), closed: make(chan struct{}), underway: map[string]*rpcRequest{},
	}
}

// begin says where the answer to a request goes. It fails with errTwice.
func (c *toolConn) begin(request string, r *rpcRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underway[request] != nil {
		return errTwice
	}
	c.underway[request] = r
	return nil
}

// pass gives the session a message.
func (c *toolConn) pass(m jsonrpc.Message) {
	select {
	case c.toRead <- m:
	case <-c.closed:
	}
}

// Connect makes it the transport of its own.
func (c *toolConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read gives the session its next message.
func (c *toolConn) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.toRead:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	}
}

// Write answers a request, unless it was withdrawn. It returns before the answer is written. An error of that is told to
// Return; to the session it would be the end, and the end of a process is told otherwise.
func (c *toolConn) Write(_ context.Context, m jsonrpc.Message) error {
	response, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil // a notice, which the CLI would not understand
	}
	request, _ := response.ID.Raw().(string)
	c.mu.Lock()
	r := c.underway[request]
	delete(c.underway, request)
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	close(r.handled)
	select {
	case <-r.withdrawn:
		return nil
	default:
	}
	response.ID = r.id
	data, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return fmt.Errorf("answer a call: %w", err) // no result of ours is such
	}
	c.p.reply(func() error {
		defer close(r.answered)
		r.err = c.p.respondMCP(request, data)
		return r.err
	})
	return nil
}

// Close ends what is read.
func (c *toolConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is needed by connections that are several.
func (c *toolConn) SessionID() string { return "" }

// respondMCP answers a control request with a JSON-RPC response.
func (p *Process) respondMCP(request string, response json.RawMessage) error {
	return p.respond(request, struct {
		Response json.RawMessage `json:"mcp_response"`
	}{response})
}
