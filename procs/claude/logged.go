package claude

import (
	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// Logged returns what a line of an agent's log says, as the readers of signals take it.
func Logged(l stream.Line) (all []procs.Message) {
	switch l.Type {
	case "raw":
		all = append(all, procs.Raw{Text: l.Text})
	case "assistant":
		for _, b := range l.Message.Content {
			switch b.Type {
			case "text":
				all = append(all, procs.Text{Text: b.Text, ID: l.Message.ID, Parent: l.Parent})
			case "tool_use":
				all = append(all, procs.ToolUse{ID: b.ID, Name: b.Name, Input: b.Input, Parent: l.Parent})
			}
		}
	case "result":
		all = append(all, procs.Result{Text: l.Result})
	case "system":
		if l.Subtype == "permission_denied" {
			all = append(all, refusedIn(l.ToolName, "", l.ReasonType, l.Reason, nil))
		}
	}
	return all
}
