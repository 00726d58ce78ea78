package supervisor

import (
	"encoding/json"

	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A SignalReader reads the signals in what one process says.
type SignalReader struct {
	Scanner  *signals.Scanner
	commands map[string]string // Bash calls under way in the main conversation: tool use → command
}

// NewSignalReader makes the reader for an agent, with further ids that count as its own, and what reports whether an id
// is that of a question file which the agent may mean.
func NewSignalReader(agent string, accept []string, escalated func(id string) bool) SignalReader {
	return SignalReader{
		Scanner:  signals.NewScanner(signals.Config{AgentID: agent, Accept: accept, Escalated: escalated}),
		commands: map[string]string{},
	}
}

// Read gives the signals that count with this message.
func (r SignalReader) Read(m procs.Message) []signals.Signal {
	switch m := m.(type) {
	case procs.Text:
		src := signals.Main
		if m.Parent != "" {
			src = signals.Subagent
		}
		r.Scanner.BeginMessage(src, m.ID)
		r.Scanner.BeginBlock()
		return append(r.Scanner.Text(m.Text), r.Scanner.EndBlock()...)
	case procs.Raw: // one message, printed in pieces
		r.Scanner.BeginMessage(signals.Main, "raw")
		return r.Scanner.Text(m.Text)
	case procs.ToolUse:
		if m.Parent == "" {
			if m.Name == "Bash" {
				var in map[string]json.RawMessage // a struct would take a member of another case, too
				var command string
				_ = json.Unmarshal(m.Input, &in)
				_ = json.Unmarshal(in["command"], &command) // a call without one prints nothing that could count
				r.commands[m.ID] = command
			}
			return r.Scanner.ToolCall(m.Name, m.Input)
		}
	case procs.ToolResult:
		if command, ok := r.commands[m.ToolUse]; ok {
			delete(r.commands, m.ToolUse)
			return r.Scanner.Bash(command, m.Text, m.IsError)
		}
	case procs.Result:
		return r.Scanner.EndTurn(m.Text)
	}
	return nil
}
