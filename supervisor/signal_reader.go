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
	closing  *closingWords
}

// closingWords are what the main conversation last said in a turn, with no call after it; and before it was sent on.
type closingWords struct{ said, before string }

// maxClosingWords bounds what is kept of them where they come in pieces, in bytes.
const maxClosingWords = 8 << 10

// NewSignalReader makes the reader for an agent, with further ids that count as its own, and what reports whether an id
// is that of a question file which the agent may mean.
func NewSignalReader(agent string, accept []string, escalated func(id string) bool) SignalReader {
	return SignalReader{
		Scanner:  signals.NewScanner(signals.Config{AgentID: agent, Accept: accept, Escalated: escalated}),
		commands: map[string]string{},
		closing:  &closingWords{},
	}
}

// ClosingQuestion gives the question in its own words that the agent has ended its turn with, if its end has no signal:
// with its last message, or the one before it was sent on by the Stop hook. Whether anybody is asked the core decides.
func (r SignalReader) ClosingQuestion() []signals.Signal {
	defer func() { *r.closing = closingWords{} }()
	for _, message := range []string{r.closing.said, r.closing.before} {
		if sig, ok := signals.ClosingQuestion(message); ok {
			return []signals.Signal{sig}
		}
	}
	return nil
}

// Read gives the signals that count with this message.
func (r SignalReader) Read(m procs.Message) []signals.Signal {
	switch m := m.(type) {
	case procs.Text:
		if m.Parent == "" {
			r.closing.said = m.Text
		}
		r.Scanner.Meet(m.Agent)
		r.Scanner.BeginMessage(signals.Source(m.Parent), m.ID)
		r.Scanner.BeginBlock()
		return append(r.Scanner.Text(m.Text), r.Scanner.EndBlock()...)
	case procs.Raw: // one message, printed in pieces
		said := r.closing.said + m.Text
		r.closing.said = said[max(0, len(said)-maxClosingWords):]
		r.Scanner.BeginMessage(signals.Main, "raw")
		return r.Scanner.Text(m.Text)
	case procs.ToolUse:
		if m.Parent != "" {
			r.Scanner.Meet(m.Agent)
			return r.Scanner.SubagentToolCall(m.Name, m.Input)
		}
		r.closing.said = ""
		if m.Name == "Bash" {
			var in map[string]json.RawMessage // a struct would take a member of another case, too
			var command string
			_ = json.Unmarshal(m.Input, &in)
			_ = json.Unmarshal(in["command"], &command) // a call without one prints nothing that could count
			r.commands[m.ID] = command
		}
		return r.Scanner.ToolCall(m.Name, m.Input)
	case procs.ToolResult:
		if command, ok := r.commands[m.ToolUse]; ok {
			delete(r.commands, m.ToolUse)
			return r.Scanner.Bash(command, m.Text, m.IsError)
		}
	case procs.StopHook:
		if _, ok := signals.ClosingQuestion(r.closing.said); ok {
			r.closing.before = r.closing.said
		}
	case procs.Result:
		return r.Scanner.EndTurn(m.Text)
	}
	return nil
}
