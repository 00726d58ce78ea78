package messagesapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"claude-supervise/examples"
	"claude-supervise/procs/stream"
)

// requestBody is what matters of a request to /v1/messages.
type requestBody struct {
	Model    string         `json:"model"`
	Stream   bool           `json:"stream"`
	System   stream.Content `json:"system"`
	Tools    []tool         `json:"tools"`
	Messages []struct {
		Role    examples.Role  `json:"role"`
		Content stream.Content `json:"content"`
	} `json:"messages"`
}

type tool struct {
	Name string `json:"name"`
}

// named returns a reply with its tools called as the release that asks calls them: what is Agent now was Task (2.1.7).
func (b requestBody) named(r examples.Reply) examples.Reply {
	if slices.Contains(b.Tools, tool{"Agent"}) || !slices.Contains(b.Tools, tool{"Task"}) {
		return r
	}
	r.Tools = slices.Clone(r.Tools)
	for i := range r.Tools {
		if r.Tools[i].Name == "Agent" {
			r.Tools[i].Name = "Task"
		}
	}
	return r
}

// compacts reports whether the request wants the conversation summed up, to go on with that in place of it.
func (b requestBody) compacts() bool {
	for _, m := range b.Messages[max(0, len(b.Messages)-2):] {
		for _, text := range m.Content.Texts() {
			if strings.Contains(text, "Your task is to create a detailed summary of the conversation so far") {
				return true
			}
		}
	}
	return false
}

func (b requestBody) conversation() []examples.Message {
	var c []examples.Message
	if len(b.System) > 0 {
		c = append(c, examples.Message{Role: examples.System, Texts: b.System.Texts()})
	}
	for _, m := range b.Messages {
		c = append(c, examples.Message{Role: m.Role, Texts: m.Content.Texts()})
	}
	return c
}

type (
	message struct {
		ID           string  `json:"id"`
		Type         string  `json:"type"`
		Role         string  `json:"role"`
		Model        string  `json:"model"`
		Content      []block `json:"content"`
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
		Usage        usage   `json:"usage"`
	}

	block struct {
		Type  string          `json:"type"`
		Text  *string         `json:"text,omitempty"`
		ID    string          `json:"id,omitempty"`
		Name  string          `json:"name,omitempty"`
		Input json.RawMessage `json:"input,omitempty"`
	}

	usage struct {
		InputTokens   int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		OutputTokens  int `json:"output_tokens"`
	}
)

func newMessage(model string, r examples.Reply) message {
	billed := r.Billed()
	m := message{
		ID: newID("msg_"), Type: "message", Role: "assistant", Model: model,
		StopReason: new("end_turn"), Usage: usage{
			InputTokens: billed.Input, OutputTokens: billed.Output, CacheRead: billed.CacheRead,
			CacheCreation: billed.CacheWrite,
		},
	}
	if r.Text != "" {
		m.Content = append(m.Content, block{Type: "text", Text: &r.Text})
	}
	for _, t := range r.Tools {
		m.Content = append(m.Content, block{Type: "tool_use", ID: newID("toolu_"), Name: t.Name, Input: encode(t.Input)})
		m.StopReason = new("tool_use")
	}
	return m
}

func newID(prefix string) string { return prefix + strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }

// encode writes what a scenario holds; a value that is no JSON there is a bug of the scenario.
func encode(v any) json.RawMessage {
	if m, ok := v.(map[string]any); ok && m == nil {
		return json.RawMessage("{}")
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("messagesapi: %v", err))
	}
	return data
}

// sendStream writes a message as the API streams it: server-sent events, each block begun, filled and ended.
func sendStream(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	send := func(event string, doc map[string]any) {
		doc["type"] = event
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, encode(doc))
		_ = http.NewResponseController(w).Flush()
	}
	blocks, stop := m.Content, m.StopReason
	start := m
	start.Content, start.StopReason, start.Usage.OutputTokens = []block{}, nil, 0
	send("message_start", map[string]any{"message": start})
	for i, b := range blocks {
		empty, delta := block{Type: "text", Text: new("")}, map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			empty = block{Type: b.Type, ID: b.ID, Name: b.Name, Input: json.RawMessage("{}")}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": empty})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": m.Usage,
	})
	send("message_stop", map[string]any{})
}
