package claude

import (
	"encoding/json"
	"fmt"

	"claude-supervise/procs"
)

// call takes the client's call of a tool: it is handed over as a Call if its input fits, else answered.
func (s *toolServer) call(m mcpMessage, req rpcRequest, answer func(any, error)) {
	var params callToolParams
	if err := readParams(req, &params); err != nil {
		answer(nil, err)
		return
	}
	compile, ok := s.inputs[params.Name]
	if !ok {
		answer(nil, &rpcError{Code: rpcInvalidParams, Message: fmt.Sprintf("unknown tool %.60q", params.Name)})
		return
	}
	tool, err := compile()
	if err != nil { // a mistake in the tool, which no other call would do better with
		answer(nil, &rpcError{Code: rpcInternalError,
			Message: fmt.Sprintf("the tool %s cannot be called: its schema: %v", params.Name, err)})
		return
	}
	in, err := tool.check(params.Arguments)
	if err != nil {
		answer(toolResult(err.Error(), true), nil)
		return
	}
	refuse := func(why string) { answer(toolResult(why, true), nil) }
	if s.d.admit(request{id: m.Request, how: byReturn, rpc: req.ID}, refuse) {
		s.d.Tell(procs.Call{Request: m.Request, ToolUse: m.ToolUse, Name: params.Name, Input: in, From: m.From,
			Line: m.Line})
	}
}

func toolResult(text string, isError bool, images ...procs.Image) callToolResult {
	content := []any{textContent{"text", text}}
	for _, i := range images {
		content = append(content, imageContent{"image", i.Data, i.Type})
	}
	return callToolResult{Content: content, IsError: isError}
}

// cancelled takes a notification that a request is withdrawn. Of two with the same id it is the newer: the older is one
// of a client that has gone.
func (s *toolServer) cancelled(req rpcRequest) {
	var params struct {
		ID rpcID `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &params) != nil || params.ID == "" {
		return
	}
	r, ok := s.d.waiting.take(func(r request) bool { return r.how == byReturn && r.rpc == params.ID })
	if ok && !s.d.parking.Load() {
		s.d.Tell(procs.AskCancelled{Request: r.id})
	}
}

// Return answers a Call; text is what the model reads as the tool's result, or as its error. It blocks and fails as
// Allow does.
func (d *dialogue) Return(request, text string, isError bool, images ...procs.Image) error {
	r, err := d.claim(request, byReturn)
	if err != nil {
		return err
	}
	return d.answerMCP(request, r.rpc, toolResult(text, isError, images...), nil)
}
