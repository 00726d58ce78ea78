package procs

import (
	"bytes"
	"path/filepath"
	"strings"
)

// SubagentSaid gives what the subagent that made the call toolUse had said and done, as its transcript has it: its
// Text, ToolUse and ToolResult. id is its own; "" if no subagent of the conversation has made the call.
func SubagentSaid(transcript, toolUse string, each func(Message)) (id string, err error) {
	subagents, err := subagentsOf(transcript)
	if err != nil {
		return "", err
	}
	for _, path := range subagents {
		made := false
		err := scanTranscript(path, toolUse, func(l transcriptLine) bool {
			if l.Type == "assistant" && l.Message != nil {
				for _, b := range l.Message.Content {
					made = made || b.Type == "tool_use" && b.ID == toolUse
				}
			}
			return made
		})
		if err != nil {
			return "", err
		}
		if !made {
			continue
		}
		var d decoder
		return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl"),
			scanLines(path, func(data []byte) bool {
				messages, _ := d.decode(bytes.Clone(data))
				for _, m := range messages {
					switch m.(type) {
					case Text, ToolUse, ToolResult:
						each(m)
					}
				}
				return false
			})
	}
	return "", nil
}
