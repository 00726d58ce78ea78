// Package stream has the shapes of what Claude Code says in JSON: the lines of its stream (--output-format
// stream-json), those of its transcripts, and those of our own logs, which wrap the former; and how they are split and
// read. A shape has the members that we use. It holds no rule of the protocol, opens no file and imports nothing of
// ours, so whoever reads such lines may import it.
package stream

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Decode reads data into a shape, and reports whether it is JSON. Of what another release writes in another form it
// reads the rest: a member of another type than ours counts as unknown. into shares no memory with data.
func Decode(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}

// A Line is a line of a conversation: of the stream, or of a transcript. Both have the same messages.
type Line struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	UUID      string  `json:"uuid"`
	Timestamp string  `json:"timestamp"` // RFC 3339
	Message   Message `json:"message"`

	// Of a subagent: the call that has started it, and its id (2.1.329; Side is of transcripts).
	Parent    string `json:"parent_tool_use_id"`
	AgentID   string `json:"agent_id"`
	SideID    string `json:"agentId"`
	Sidechain bool   `json:"isSidechain"`

	// Who speaks in the place of the assistant or of a person: the CLI itself, a peer, or a task that has ended.
	APIError       bool   `json:"is_api_error_message"`
	APIErrorInFile bool   `json:"isApiErrorMessage"`
	Synthetic      bool   `json:"isSynthetic"`
	Meta           bool   `json:"isMeta"`
	Origin         Origin `json:"origin"`

	Result  string `json:"result"`
	IsError bool   `json:"is_error"`
	Text    string `json:"text"` // of a notification; of the type raw: what has no protocol
	// Of a running tool, or of a call that the CLI refuses by itself (permission_denied, 2.1.332).
	ToolName   string `json:"tool_name"`
	ReasonType string `json:"decision_reason_type"`
	Reason     string `json:"decision_reason"`

	Attachment struct {
		Type       string `json:"type"`        // queued_command: a message that was taken into a running turn
		SourceUUID string `json:"source_uuid"` // its own
	} `json:"attachment"`
}

// An Origin is where a message or a turn comes from.
type Origin struct {
	Kind string `json:"kind"`
	From string `json:"from"` // of a peer: its address
	Name string `json:"name"`
	Body string `json:"body"`
}

// A Message is one of the Messages API, which may have several lines.
type Message struct {
	ID         string  `json:"id"`
	Model      string  `json:"model"`
	Content    Content `json:"content"` // nil where the line has no message
	Usage      Usage   `json:"usage"`
	StopReason string  `json:"stop_reason"` // in transcripts; in the stream it comes too late
}

// Usage is what one request has used, in tokens. Input is without the cache's.
type Usage struct {
	Input         int64  `json:"input_tokens"`
	CacheCreation int64  `json:"cache_creation_input_tokens"`
	CacheRead     int64  `json:"cache_read_input_tokens"`
	Output        int64  `json:"output_tokens"`
	ServiceTier   string `json:"service_tier"`
}

// A Block is one part of a message: a text, a call of a tool (ID, Name, Input), or its result (ToolUseID, Content,
// IsError). Blocks of other types keep their type only.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   Content         `json:"content"`
	IsError   bool            `json:"is_error"`
}

// Content is what a message or a result holds: blocks, or in JSON a string for a single text.
type Content []Block

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		text := Block{Type: "text"}
		err := json.Unmarshal(data, &text.Text)
		*c = Content{text}
		return err
	}
	return json.Unmarshal(data, (*[]Block)(c))
}

// Text joins the texts of the text blocks.
func (c Content) Text() string {
	if len(c) == 1 {
		return c[0].Text
	}
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Texts returns the texts of the text blocks and of the tool results, in order.
func (c Content) Texts() []string {
	var texts []string
	for _, b := range c {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_result":
			texts = append(texts, b.Content.Texts()...)
		}
	}
	return texts
}

// An Entry is a line of an agent's log. Of what is no protocol it has no Line.
type Entry struct {
	Time   time.Time `json:"time"`
	Launch int       `json:"launch"`
	Stderr string    `json:"stderr"`
	Line   Line      `json:"line"`
}
