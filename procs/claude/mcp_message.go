package claude

import "encoding/json"

// What our server and its client say to each other, of MCP 2025-11-25: the members that we use of each message. The
// types of the protocol's SDK come with its transports and its logins: 1.5 MB, and a quarter of what is made
// before a command begins.

// initializeParams begins a session.
type initializeParams struct {
	ProtocolVersion string `json:"protocolVersion"`
}

type initializeResult struct {
	ProtocolVersion string         `json:"protocolVersion"`
	Capabilities    capabilities   `json:"capabilities"`
	ServerInfo      implementation `json:"serverInfo"`
}

// capabilities are those of a server of tools whose list never changes.
type capabilities struct {
	Tools struct{} `json:"tools"`
}

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// listedTool is a tool as the client is told of it.
type listedTool struct {
	Meta        map[string]any  `json:"_meta"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

type listToolsResult struct {
	Tools      []listedTool `json:"tools"`
	CacheScope string       `json:"cacheScope"`
}

// callToolParams is the call of a tool.
type callToolParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// callToolResult is what the model reads, as the tool's result or as its error.
type callToolResult struct {
	Content []any `json:"content"` // textContent, imageContent
	IsError bool  `json:"isError,omitempty"`
}

type imageContent struct {
	Type     string `json:"type"` // image
	Data     []byte `json:"data"`
	MIMEType string `json:"mimeType"`
}

type textContent struct {
	Type string `json:"type"` // text
	Text string `json:"text"`
}
