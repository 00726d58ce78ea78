package supervisor

import (
	"encoding/json"

	"claude-supervise/procs"
	"claude-supervise/signals"
)

// ears hear the signals in what one process says.
type ears struct {
	scanner  *signals.Scanner
	commands map[string]string // Bash calls under way in the main conversation: tool use → command
}

// newEars makes the ears for an agent, with further ids that count as its own, and what tells whether an id is that of a
// question file which the agent may mean.
func newEars(agent string, accept []string, escalated func(id string) bool) ears {
	return ears{
		scanner:  signals.NewScanner(signals.Config{AgentID: agent, Accept: accept, Escalated: escalated}),
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
	case procs.Raw: // one message, printed in pieces
		h.scanner.BeginMessage(signals.Main, "raw")
		return h.scanner.Text(m.Text)
	case procs.ToolUse:
		if m.Parent == "" {
			if m.Name == "Bash" {
				var in struct{ Command string }
				_ = json.Unmarshal(m.Input, &in) // a call without a command prints nothing that could count
				h.commands[m.ID] = in.Command
			}
			return h.scanner.ToolCall(m.Name, m.Input)
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

// unheard reads in a transcript what the agent said since the last prompt that has reached it, when its supervisor died: some
// of it nobody has read, or read and not saved. What is known comes again and changes nothing. whole tells that the turn had
// come to its end: the last that was said is a text with a signal.
func unheard(transcript string, prompts []*Delivery, h ears) (found []signals.Signal, whole bool, err error) {
	prompt, reached := "", false
	for i := len(prompts) - 1; i >= 0 && !reached; i-- {
		prompt = prompts[i].UUID
		if reached, err = procs.HeardIn(transcript, prompt); err != nil {
			return nil, false, err
		}
	}
	err = procs.SaidAfter(transcript, prompt, func(m procs.Message) {
		heard := h.hear(m)
		found = append(found, heard...)
		_, text := m.(procs.Text)
		whole = text && len(heard) > 0
	})
	if last := h.scanner.EndTurn(""); len(last) > 0 {
		found, whole = append(found, last...), true
	}
	return found, whole, err
}
