package host

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// lookUp reads in a transcript which subagents had made calls, what they had done before, and whether they had come to
// their end.
func lookUp(transcript string, asked []*supervisor.Question) (map[string]checkpoints.Subagent, error) {
	found := map[string]checkpoints.Subagent{}
	for _, q := range asked {
		sub := *q.Tool.From
		var w work
		spoke := false // last of all: it ends with a text
		id, err := procs.SubagentSaid(transcript, q.Tool.ToolUse, func(m procs.Message) {
			_, spoke = m.(procs.Text)
			switch m := m.(type) {
			case procs.Text:
				w.addBlock(view.ContentBlock{Type: "text", Text: m.Text}, true)
			case procs.ToolUse:
				w.addBlock(view.ContentBlock{Type: "tool_use", Name: m.Name, Input: m.Input}, true)
			}
		})
		if err != nil {
			return found, err
		}
		_, returned, err := procs.AnsweredIn(transcript, sub.ToolUse)
		if err != nil {
			return found, err
		}
		sub.Interrupted = !spoke || !returned
		if id != "" {
			sub.ID = id
		}
		sub.Done = w.bySubagent()
		found[q.ID] = sub
	}
	return found, nil
}

// bySubagent tells the work of a subagent to who has it done again.
func (w work) bySubagent() string {
	var b strings.Builder
	text.TellList(&b, "Files that it wrote:", w.files, maxSurveyFiles)
	text.TellList(&b, "Commands that it ran, the last ones:", w.commands, maxSurveyCommands)
	if said := w.lastSaid(); said != "" {
		fmt.Fprintf(&b, "The last thing that it said:\n%s\n", said)
	}
	return strings.TrimSpace(b.String())
}
