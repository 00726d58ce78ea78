package supervisor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"claude-supervise/procs"
	"claude-supervise/signals"
)

// ears hear the signals in what one process says.
type ears struct {
	scanner  *signals.Scanner
	commands map[string]string // Bash calls under way in the main conversation: tool use → command
}

func newEars(agent string, accept []string) ears {
	return ears{
		scanner:  signals.NewScanner(signals.Config{AgentID: agent, Accept: accept}),
		commands: map[string]string{},
	}
}

// hear gives the signals that count with this message.
func (h ears) hear(m procs.Message) []signals.Signal {
	switch m := m.(type) {
	case procs.Text:
		src := signals.Main
		if m.Parent != "" {
			src = signals.Subagent
		}
		h.scanner.BeginMessage(src, m.ID)
		h.scanner.BeginBlock()
		return append(h.scanner.Text(m.Text), h.scanner.EndBlock()...)
	case procs.ToolUse:
		if m.Parent == "" {
			h.scanner.ToolCall(m.Name)
			if m.Name == "Bash" {
				var in struct{ Command string }
				_ = json.Unmarshal(m.Input, &in) // a call without a command prints nothing that could count
				h.commands[m.ID] = in.Command
			}
		}
	case procs.ToolResult:
		if command, ok := h.commands[m.ToolUse]; ok {
			delete(h.commands, m.ToolUse)
			return h.scanner.Bash(command, m.Text)
		}
	case procs.Result:
		return h.scanner.EndTurn(m.Text)
	}
	return nil
}

// unheard reads in an agent's log what a launch said in the turn that was under way when it was lost. Most of that was
// taken, and is known when it comes again; what its supervisor read and could not save any more was not. whole tells
// that the turn came to its end.
func unheard(path string, h ears, l *Launch) (found []signals.Signal, whole bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // only read
	turns := 0
	err = procs.Replay(f, l.N, func(m procs.Message) {
		found = append(found, h.hear(m)...)
		if r, ok := m.(procs.Result); ok {
			if turns++; turns <= l.Turns {
				found = nil // of a turn whose end was taken
			} else {
				whole = procs.Classify(r, nil).Kind == ""
			}
		}
	})
	return found, whole, err
}
