package examples

import (
	"encoding/json"
	"fmt"
)

// Content is what a message of the Messages API holds: blocks, of which a tool result holds content again. In JSON a
// bare string stands for one text block.
type Content []Block

// A Block is one part of a message: a text, a call of a tool (ID, Name, Input), or its result (ToolUseID, Content).
// Blocks of other types keep their type only.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   Content         `json:"content"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = nil
	if len(data) > 0 && data[0] == '"' {
		text := Block{Type: "text"}
		if err := json.Unmarshal(data, &text.Text); err != nil {
			return err
		}
		*c = Content{text}
		return nil
	}
	var blocks []Block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return fmt.Errorf("content is neither a text nor blocks: %w", err)
	}
	*c = blocks
	return nil
}

// Texts gives the texts of the text blocks and tool results, in order.
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
