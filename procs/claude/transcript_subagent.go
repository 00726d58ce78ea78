package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/procs"
)

// SubagentSaid returns what the subagent that made the call toolUse had said and done, as its transcript has it: its
// Text, ToolUse and ToolResult; and who it is, as far as is kept beside its transcript. The zero Subagent: no subagent
// of the conversation has made the call.
func SubagentSaid(transcript, toolUse string, each func(procs.Message)) (procs.Subagent, error) {
	subagents, err := subagentsOf(transcript)
	if err != nil || toolUse == "" {
		return procs.Subagent{}, err
	}
	for _, path := range subagents {
		made := false
		err := scanTranscript(path, toolUse, func(l *line) bool {
			if l.Type == "assistant" {
				for _, b := range l.Message.Content {
					made = made || b.Type == "tool_use" && b.ID == toolUse
				}
			}
			return made
		})
		if err != nil {
			return procs.Subagent{}, err
		}
		if !made {
			continue
		}
		var d decoder
		return subagentAt(path), scanLines(path, func(data []byte) bool {
			messages, _ := d.decode(data)
			for _, m := range messages {
				switch m.(type) {
				case procs.Text, procs.ToolUse, procs.ToolResult:
					each(m)
				}
			}
			return false
		})
	}
	return procs.Subagent{}, nil
}

// SubagentKept reports whether the conversation has the transcript of a subagent, without which it cannot be revived:
// of one that was begun in the last 100 ms before its process was killed there may be none.
func SubagentKept(transcript, id string) (bool, error) {
	subagents, err := subagentsOf(transcript)
	return slices.ContainsFunc(subagents, func(path string) bool { return subagentAt(path).ID == id }), err
}

// subagentAt returns whose transcript this is. Releases before 2.1.200 keep no more of it than the id in its name.
func subagentAt(path string) procs.Subagent {
	path = strings.TrimSuffix(path, ".jsonl")
	known := procs.Subagent{ID: strings.TrimPrefix(filepath.Base(path), "agent-")}
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
	known.Type, known.Depth = procs.Cut(kept.Type, procs.MaxShown), kept.Depth
	known.Task = procs.Cut(kept.Task, procs.MaxShown)
	return known
}
