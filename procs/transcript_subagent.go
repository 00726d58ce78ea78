package procs

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// SubagentSaid gives what the subagent that made the call toolUse had said and done, as its transcript has it: its
// Text, ToolUse and ToolResult; and who it is, as far as is kept beside its transcript. The zero Subagent: no subagent
// of the conversation has made the call.
func SubagentSaid(transcript, toolUse string, each func(Message)) (Subagent, error) {
	subagents, err := subagentsOf(transcript)
	if err != nil || toolUse == "" {
		return Subagent{}, err
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
			return Subagent{}, err
		}
		if !made {
			continue
		}
		var d decoder
		return subagentAt(path), scanLines(path, func(data []byte) bool {
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
	return Subagent{}, nil
}

// subagentAt gives whose transcript this is. Releases before 2.1.200 keep no more of it than the id in its name.
func subagentAt(path string) Subagent {
	path = strings.TrimSuffix(path, ".jsonl")
	known := Subagent{ID: strings.TrimPrefix(filepath.Base(path), "agent-")}
	var kept struct {
		Type    string `json:"agentType"`
		Task    string `json:"description"`
		ToolUse string `json:"toolUseId"`
		Depth   int    `json:"spawnDepth"`
	}
	_ = scanLines(path+".meta.json", func(data []byte) bool { // what is not there is not known
		_ = json.Unmarshal(data, &kept)
		return true
	})
	if len(kept.ToolUse) <= maxID {
		known.ToolUse = kept.ToolUse
	}
	known.Type, known.Task, known.Depth = cut(kept.Type, maxShown), cut(kept.Task, maxShown), kept.Depth
	return known
}
