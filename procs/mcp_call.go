package procs

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An rpcRequest is a request of the client that is under way.
type rpcRequest struct {
	from      mcpMessage
	id        jsonrpc.ID               // the client's own
	call      Call                     // set before arrived is closed
	arrived   chan struct{}            // closed when it is a call with an input that fits
	returned  chan *mcp.CallToolResult // what the call gives; room for one
	withdrawn chan struct{}            // closed when the client wants no answer any more
	handled   chan struct{}            // closed when the session is done with it
	answered  chan struct{}            // closed when the answer is written
	err       error                    // of that
}

// request takes a request of the client. It returns when the session is done with that, or it is handed over as a Call.
func (s *toolServer) request(m mcpMessage, req *jsonrpc.Request) {
	r := &rpcRequest{
		from: m, id: req.ID, arrived: make(chan struct{}), returned: make(chan *mcp.CallToolResult, 1),
		withdrawn: make(chan struct{}), handled: make(chan struct{}), answered: make(chan struct{}),
	}
	if err := s.conn.begin(m.Request, r); err != nil {
		s.p.twice(m.Request)
		return
	}
	req.ID, _ = jsonrpc.MakeID(m.Request) // every string is one
	s.arriving = r
	s.conn.pass(req)
	select {
	case <-r.handled:
	case <-s.conn.closed:
	case <-r.arrived:
		if s.p.admit(request{id: m.Request, how: byReturn, rpc: r}, func(why string) { r.returned <- toolResult(why, true) }) {
			s.p.tell(r.call)
		}
	}
}

// call is the session's handler of tools/call: it waits for Return, for the withdrawal of the call or the end of the
// process.
func (s *toolServer) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	r := s.arriving
	in, err := s.inputs[req.Params.Name].check(req.Params.Arguments)
	if err != nil {
		return toolResult(err.Error(), true), nil
	}
	r.call = Call{
		Request: r.from.Request, ToolUse: r.from.ToolUse, Name: req.Params.Name, Input: in, From: r.from.From,
	}
	close(r.arrived)
	select {
	case result := <-r.returned:
		return result, nil
	case <-r.withdrawn:
		return nil, context.Canceled
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func toolResult(text string, isError bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError}
}

// cancelled takes a notification that a request is withdrawn. Of two with the same id it is the newer: the older is one
// of a client that has gone.
func (s *toolServer) cancelled(req *jsonrpc.Request) {
	var params struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &params) != nil {
		return
	}
	id, err := jsonrpc.MakeID(params.ID)
	if err != nil {
		return
	}
	r, ok := s.p.withdraw(func(r request) bool { return r.how == byReturn && r.rpc.id == id })
	if ok && !s.p.parking.Load() {
		s.p.tell(AskCancelled{Request: r.id})
	}
}

// Return answers a Call; text is what the model reads as the tool's result, or as its error. It blocks and fails as Allow
// does.
func (p *Process) Return(request, text string, isError bool) error {
	r, err := p.claim(request, byReturn)
	if err != nil {
		return err
	}
	r.rpc.returned <- toolResult(text, isError)
	select {
	case <-r.rpc.answered:
		return r.rpc.err
	case <-p.exited:
		return ErrGone
	}
}
