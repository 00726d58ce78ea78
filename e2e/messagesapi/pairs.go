package messagesapi

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/examples"
)

// A turn is what one role says until the other does.
type turn struct {
	role          examples.Role
	at            int      // of its first message
	calls, result []string // tool uses that it makes, and those that it gives the results of
}

// turns returns the conversation by its turns. What the system says between them is of none.
func (b requestBody) turns() []turn {
	var turns []turn
	for i, m := range b.Messages {
		if m.Role == examples.System {
			continue
		}
		if len(turns) == 0 || turns[len(turns)-1].role != m.Role {
			turns = append(turns, turn{role: m.Role, at: i})
		}
		t := &turns[len(turns)-1]
		for _, block := range m.Content {
			switch block.Type {
			case "tool_use":
				t.calls = append(t.calls, block.ID)
			case "tool_result":
				t.result = append(t.result, block.ToolUseID)
			}
		}
	}
	return turns
}

// unpaired says why the API refuses a conversation, "" if it does not: each call of a tool needs its result in the turn
// after it, and no result stands without its call
// (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use).
func (b requestBody) unpaired() string {
	var before turn
	for _, t := range append(b.turns(), turn{at: len(b.Messages)}) {
		if id := lacking(t.result, before.calls); id != "" {
			return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
				"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", t.at, id)
		}
		if id := lacking(before.calls, t.result); id != "" {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
				"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", before.at, id)
		}
		before = t
	}
	return ""
}

// lacking returns those that others do not have, in one line.
func lacking(ids, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) }),
		", ")
}
