package standin

import (
	"strings"
	"testing"
)

const served = `--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`

// serve says that there are tools, of which look only reads, and answers what is asked before a call.
func (c *child) serve() {
	c.t.Helper()
	c.send(map[string]any{"type": "control_request", "request_id": "i",
		"request": map[string]any{"subtype": "initialize", "sdkMcpServers": []string{"supervise"}}})
	c.result(c.until("control_request"), map[string]any{"protocolVersion": "2025-11-25"})
	c.result(c.until("control_request"), map[string]any{})
	c.result(c.until("control_request"), map[string]any{"tools": []any{
		map[string]any{"name": "ask"}, map[string]any{"name": "look", "annotations": map[string]any{"readOnlyHint": true}},
	}})
}

func (c *child) result(request map[string]any, result map[string]any) {
	c.send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": request["request_id"],
		"response": map[string]any{"mcp_response": map[string]any{"result": result}},
	}})
}

func (c *child) answer(request map[string]any, text string) {
	c.result(request, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

// argument is what a call asks about.
func argument(request map[string]any) string {
	m := request["request"].(map[string]any)["message"].(map[string]any)["params"].(map[string]any)
	for _, v := range m["arguments"].(map[string]any) {
		return v.(string)
	}
	return ""
}

func TestCallsThatOnlyReadAreMadeAtOnceAndOthersInTurn(t *testing.T) {
	c := start(t.Context(), t, load(t, `
  - when: go
    replies:
      - tools: [{name: mcp__supervise__look, input: {at: a}}, {name: mcp__supervise__look, input: {at: b}}, {name: mcp__supervise__ask, input: {for: c}}]
      - text: done
`), "--allowedTools=mcp__supervise", served)
	c.serve()
	c.say("go")
	a, b := c.until("control_request"), c.until("control_request")
	if argument(a) != "a" || argument(b) != "b" {
		t.Errorf("the calls are about %q and %q", argument(a), argument(b))
	}
	c.answer(b, "B")
	c.answer(a, "A")
	for _, want := range []string{"B", "A"} {
		if got := string(encode(c.until("user"))); !strings.Contains(got, `"text":"`+want+`"`) {
			t.Errorf("the result is %s", got)
		}
	}
	last := c.until("control_request")
	if argument(last) != "c" {
		t.Errorf("the last call is about %q", argument(last))
	}
	c.answer(last, "C")
	if got := c.until("result")["result"]; got != "done" {
		t.Errorf("it ends with %v", got)
	}
	if code := c.end(); code != exitGood {
		t.Errorf("exit %d", code)
	}
}

func TestASubagentThatWorksReadsAMessageWithItsNextResult(t *testing.T) {
	c := start(t.Context(), t, load(t, `
  - when: go
    replies:
      - tools: [{name: Agent, input: {description: part, prompt: "## PART"}}]
      - tools: [{name: SendMessage, input: {to: "{{subagent1}}", message: "## MORE"}}]
      - text: sent
  - when: "## PART"
    replies:
      - tools: [{name: mcp__supervise__ask, input: {for: x}}]
      - text: never said
  - when: "## MORE"
    replies: [{text: more is done}]
  - when: "<result>more is done</result>"
    replies: [{text: heard}]
`), "--allowedTools=mcp__supervise", "--forward-subagent-text", served)
	c.serve()
	c.say("go")
	call := c.until("control_request")
	c.until("result")
	c.answer(call, "X")
	if got := c.until("result")["result"]; got != "heard" {
		t.Errorf("the turn that the subagent's end begins says %v", got)
	}
	if code := c.end(); code != exitGood {
		t.Errorf("exit %d", code)
	}
}
