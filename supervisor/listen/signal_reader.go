package listen

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
)

// A SignalReader reads the signals in what one process says.
type SignalReader struct {
	Scanner  *signals.Scanner
	commands map[string]string // Bash calls under way in the main conversation: tool use → command
	closing  *closingWords
	subs     map[string]*sub // subagents that are not known to have ended, by the call that started each
}

// A sub is what tells the end of a subagent: the result of its call, or that it lives in the background no more.
type sub struct {
	id         string // as the CLI calls it
	background bool
}

// closingWords are what the main conversation last said in a turn, with no call after it; and before it was sent on.
type closingWords struct{ said, before string }

// maxClosingWords bounds what is kept of them where they come in pieces, in bytes.
const maxClosingWords = 8 << 10

// NewSignalReader makes the reader for an agent, with further ids that count as its own, and what reports whether an id
// is that of a question file which the agent may mean.
func NewSignalReader(agent string, accept []string, escalated func(id string) bool) SignalReader {
	return SignalReader{
		Scanner: signals.NewScanner(signals.Config{AgentID: agent, Accept: accept, Escalated: escalated,
			Pauses: true}),
		commands: map[string]string{},
		closing:  &closingWords{},
		subs:     map[string]*sub{},
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

// Prose is what is left for people of what a message says, without the signals that Read has found in it: those are
// shown in their own way. Of a question that counts only if it ends the turn the words are left.
func (r SignalReader) Prose(m procs.Message, found []signals.Signal) string {
	said := Said(m)
	cut := func(s signals.Signal, left string) {
		if !s.Foreign && s.Raw != "" {
			said = strings.Replace(said, s.Raw, left, 1)
		}
	}
	for _, s := range found {
		cut(s, "")
	}
	if _, is := m.(procs.Text); is {
		for _, s := range r.Scanner.AtEnd() {
			var asked []string
			for _, q := range s.Questions {
				asked = append(asked, q.Text)
			}
			if len(asked) > 0 {
				cut(s, strings.Join(asked, "\n"))
			}
		}
	}
	return strings.TrimSpace(said)
}

// Read returns the signals that count with this message.
func (r SignalReader) Read(m procs.Message) []signals.Signal {
	switch m := m.(type) {
	case procs.Text:
		if m.Parent == "" {
			r.closing.said = m.Text
		} else {
			r.met(m.Parent, m.Agent)
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
		if claude.StartsSubagent(m.Name) && len(r.subs) < maxSubagentsKnown {
			r.subs[m.ID] = &sub{}
		}
		if m.Parent != "" {
			r.met(m.Parent, m.Agent)
			r.bash(m)
			r.Scanner.Meet(m.Agent)
			return r.Scanner.SubagentToolCall(signals.Source(m.Parent), m.Name, m.Input)
		}
		r.closing.said = ""
		r.bash(m)
		return r.Scanner.ToolCall(m.Name, m.Input)
	case procs.ToolResult:
		if command, ok := r.commands[m.ToolUse]; ok {
			delete(r.commands, m.ToolUse)
			if m.Parent != "" {
				return r.Scanner.SubagentBash(signals.Source(m.Parent), command, m.Text, m.IsError)
			}
			return r.Scanner.Bash(command, m.Text, m.IsError)
		}
		if sub := r.subs[m.ToolUse]; sub != nil && !sub.background && !strings.HasPrefix(m.Text, launchedInBackground) {
			delete(r.subs, m.ToolUse)
			return r.Scanner.EndSubagent(signals.Source(m.ToolUse))
		}
	case procs.Background:
		return r.living(m.Tasks)
	case procs.StopHook:
		if _, ok := signals.ClosingQuestion(r.closing.said); ok {
			r.closing.before = r.closing.said
		}
	case procs.Result:
		return r.Scanner.EndTurn(m.Text)
	}
	return nil
}

// launchedInBackground begins the result of a call that does not wait for the subagent that it has started.
const launchedInBackground = "Async agent launched"

// met takes the id of a subagent, from a line of it. One that was revived lives again.
func (r SignalReader) met(toolUse, id string) {
	if r.subs[toolUse] == nil && len(r.subs) < maxSubagentsKnown {
		r.subs[toolUse] = &sub{}
	}
	if known := r.subs[toolUse]; known != nil && id != "" {
		known.id = id
	}
}

// bash takes note of a call of Bash.
func (r SignalReader) bash(m procs.ToolUse) {
	if m.Name != "Bash" {
		return
	}
	var in map[string]json.RawMessage // a struct would take a member of another case, too
	var command string
	_ = json.Unmarshal(m.Input, &in)
	_ = json.Unmarshal(in["command"], &command) // a call without one prints nothing that could count
	r.commands[m.ID] = command
}

// living takes what lives in the background now: a subagent that did, and does not any more, has ended.
func (r SignalReader) living(tasks []procs.Task) (found []signals.Signal) {
	for _, toolUse := range slices.Sorted(maps.Keys(r.subs)) {
		known := r.subs[toolUse]
		lives := known.id != "" && slices.ContainsFunc(tasks, func(t procs.Task) bool { return t.ID == known.id })
		switch {
		case lives:
			known.background = true
		case known.background:
			delete(r.subs, toolUse)
			found = append(found, r.Scanner.EndSubagent(signals.Source(toolUse))...)
		}
	}
	return found
}
