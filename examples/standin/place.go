package standin

import (
	"slices"

	"github.com/google/uuid"

	"claude-supervise/procs/stream"
)

// A conversation may be continued at one of its lines (--resume-session-at): what follows that is cut off, and calls
// that are open there wait for their results, which the next message holds.

// noPlace tells that the conversation lacks the line at which it is to be continued.
func (a *agent) noPlace() error {
	gone := complain("No message found with message.uuid of: %s", a.opts.at)
	a.endUnbegun(gone.Error())
	return gone
}

// missingResult is what the model is told of an open call that no result came for.
const missingResult = "[Tool result missing due to internal error]"

// noContent is what is left of a message whose results belong to no open call.
const noContent = "(no content)"

// results returns the results in a message.
func results(content stream.Content) (found stream.Content) {
	for _, b := range content {
		if b.Type == "tool_result" {
			found = append(found, b)
		}
	}
	return found
}

// hears tells the model what was said to begin a turn.
func (c *conversation) hears(p prompt) {
	if len(p.results) == 0 {
		c.messages = append(c.messages, user(p.text))
		return
	}
	open := c.open
	c.open = nil
	for _, call := range open {
		text := missingResult
		if i := slices.IndexFunc(p.results, func(b stream.Block) bool { return b.ToolUseID == call }); i >= 0 {
			text = p.results[i].Content.Text()
		}
		c.messages = append(c.messages, user(text))
	}
	if len(open) == 0 {
		c.messages = append(c.messages, user(noContent))
	}
}

// content is the prompt as its message has it.
func (p prompt) content() any {
	if len(p.results) == 0 {
		return p.text
	}
	blocks := []doc{}
	for _, b := range p.results {
		blocks = append(blocks, doc{"type": "tool_result", "tool_use_id": b.ToolUseID, "content": b.Content.Text(),
			"is_error": b.IsError})
	}
	return blocks
}

// A cut is how far a conversation was at one of its lines.
type cut struct {
	messages int
	open     []string
}

// at goes back to the line that the next one follows: what stood after it was cut off.
func (p *past) at(parent string) {
	if parent == "" || parent == p.last {
		return
	}
	if c, known := p.cuts[parent]; known {
		p.messages, p.open, p.inReply = p.messages[:c.messages], slices.Clone(c.open), false
	}
}

// passed takes note of how far the conversation is at a line.
func (p *past) passed(line string) {
	if uuid.Validate(line) == nil {
		p.cuts[line] = cut{len(p.messages), slices.Clone(p.open)}
	}
}
