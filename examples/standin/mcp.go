package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// protocolVersion is that of MCP which the CLI asks for.
const protocolVersion = "2025-11-25"

// clientInfo is what the CLI says of itself to a server.
var clientInfo = doc{"name": "claude-code", "title": "Claude Code", "version": version}

// A server is the other side as it serves tools to this one: MCP in control requests, over the stream that is there
// anyway. A nil server serves nothing.
type server struct {
	name      string
	hello     *request // the first message, until it is answered
	next      int      // id of the next message
	connected bool
	tools     map[string]servedTool
}

// A servedTool is one of its tools, as far as the CLI goes by what is said of it.
type servedTool struct {
	Name        string `json:"name"`
	Annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	} `json:"annotations"`
}

// addServers reads --mcp-config: the servers that speak over the stream, and those that are started.
func (o *options) addServers(config string) error {
	var c struct {
		Servers map[string]struct {
			Type string
			program
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return complain("Error: Invalid MCP configuration:\n%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		switch s := c.Servers[name]; s.Type {
		case "sdk":
			o.servers = append(o.servers, name)
		case "", "stdio":
			s.name = name
			o.programs = append(o.programs, s.program)
		default:
			return complain("Error: the stand-in knows no MCP servers but those of type sdk and stdio")
		}
	}
	return nil
}

// servedName takes the name apart that a served tool has for the model: mcp__SERVER__TOOL.
func servedName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "__")
}

// title is how people read the name of a tool.
func title(tool string) string {
	words := strings.Fields(strings.ReplaceAll(tool, "_", " "))
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

func (s *server) serves(name string) bool {
	_, ok := s.tool(name)
	return ok
}

func (s *server) readOnly(name string) bool {
	t, ok := s.tool(name)
	return ok && t.Annotations.ReadOnly
}

func (s *server) tool(name string) (servedTool, bool) {
	of, tool, ok := servedName(name)
	if s == nil || !ok || of != s.name {
		return servedTool{}, false
	}
	t, ok := s.tools[tool]
	return t, ok
}

// names are those of its tools, as the model knows them.
func (s *server) names() []string {
	var names []string
	if s != nil {
		for _, tool := range slices.Sorted(maps.Keys(s.tools)) {
			names = append(names, "mcp__"+s.name+"__"+tool)
		}
	}
	return names
}

// status is what the line that begins a turn says of it.
func (s *server) status() []doc {
	if s == nil {
		return []doc{}
	}
	status := "failed"
	if s.connected {
		status = "connected"
	}
	return []doc{{"name": s.name, "status": status, "source": "sdk"}}
}

// message wraps a message to the server into a control request. Notifications have no id.
func (s *server) message(method string, params doc, id int) doc {
	m := doc{"jsonrpc": "2.0", "method": method}
	if params != nil {
		m["params"] = params
	}
	if id >= 0 {
		m["id"] = id
	}
	return doc{"subtype": "mcp_message", "server_name": s.name, "message": m}
}

// greet begins to speak with the server that the command line and the other side both name. The CLI does so before it
// answers the request that told it.
func (a *agent) greet(names []string) {
	for _, name := range a.opts.servers {
		if a.server == nil && slices.Contains(names, name) {
			a.server = &server{name: name, next: 1}
			a.server.hello = a.ask(a.server.message("initialize", doc{
				"protocolVersion": protocolVersion, "capabilities": doc{},
				"clientInfo": clientInfo,
			}, 0))
		}
	}
}

// connect learns what the server serves, if it has not yet been asked. One that fails serves nothing.
func (a *agent) connect() error {
	s := a.server
	if s == nil || s.hello == nil {
		return nil
	}
	hello := s.hello
	s.hello = nil
	if _, err := a.main.awaitResult(hello); err != nil {
		return unlessRefused(err)
	}
	if _, err := a.main.request(s.message("notifications/initialized", nil, -1)); err != nil {
		return unlessRefused(err)
	}
	id := s.next
	s.next++
	list, err := a.main.awaitResult(a.ask(s.message("tools/list", nil, id)))
	if err != nil {
		return unlessRefused(err)
	}
	var listed struct{ Tools []servedTool }
	if err := json.Unmarshal(list, &listed); err != nil {
		return nil
	}
	s.connected, s.tools = true, map[string]servedTool{}
	for _, t := range listed.Tools {
		s.tools[t.Name] = t
	}
	return nil
}

func unlessRefused(err error) error {
	if errors.Is(err, errRefused) || errors.Is(err, errStreamClosed) {
		return nil
	}
	return err
}

// awaitResult waits for the server's answer to a message: its result. The errors are those of request.
func (c *conversation) awaitResult(r *request) (json.RawMessage, error) {
	data, err := c.await(r)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Response struct {
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"mcp_response"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	if reply.Response.Error != nil {
		return nil, fmt.Errorf("%w: %s", errRefused, reply.Response.Error.Message)
	}
	return reply.Response.Result, nil
}

const cutCall = "The tool call was interrupted before a result was received. It may or may not have completed on the " +
	"server — " +
	"verify before assuming it succeeded, and retry if needed."

// served makes a call of a tool that the other side serves.
func (c *conversation) served(made call) (result, error) {
	s := c.server
	_, tool, _ := servedName(made.name)
	if c.input == nil {
		return failure(cutCall), nil
	}
	id := s.next
	s.next++
	data, err := c.awaitResult(c.ask(s.message("tools/call", doc{
		"name": tool, "arguments": made.input, "_meta": doc{"claudecode/toolUseId": made.id, "progressToken": id},
	}, id)))
	if errors.Is(err, errInterrupted) {
		c.ask(s.message("notifications/cancelled", doc{"requestId": id, "reason": "AbortError: remote-cancel"}, -1))
	}
	return toolAnswer(data, err)
}

// toolAnswer makes a result of what a server has answered to a call, or of why it has not.
func toolAnswer(data json.RawMessage, err error) (result, error) {
	switch {
	case errors.Is(err, errInterrupted):
		return brokenOff(stoppedCall), err
	case errors.Is(err, errStreamClosed):
		return failure(cutCall), nil
	case errors.Is(err, errRefused):
		return failure(strings.TrimPrefix(err.Error(), errRefused.Error()+": ")), nil
	case err != nil:
		return result{}, err
	}
	var answer struct {
		Content []struct{ Type, Text string }
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return failure("the server's answer is no result: " + err.Error()), nil
	}
	var texts []string
	for _, b := range answer.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if answer.IsError {
		return failure(text), nil
	}
	return result{text: text, blocks: true, data: []doc{{"type": "text", "text": text}}}, nil
}
