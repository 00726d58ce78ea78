package host

import (
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/listen"
)

// unread reads in a transcript what the agent and its subagents said since the last prompt that has reached it, when
// its supervisor died: some of it nobody has read, or read and not saved. What is known comes again and changes
// nothing. whole tells that the turn had come to its end: the last that the agent itself said is a text with a signal.
func unread(transcript string, prompts []*supervisor.Delivery, c *listen.Listener) (found []signals.Signal,
	after string, whole bool, err error) {
	prompt, reached := "", false
	for i := len(prompts) - 1; i >= 0 && !reached; i-- {
		prompt = prompts[i].UUID
		if reached, err = claude.ReceivedIn(transcript, prompt); err != nil {
			return nil, "", false, err
		}
	}
	if reached {
		after = prompt
	}
	err = claude.SaidAfter(transcript, prompt, func(m procs.Message) {
		c.Talk.Read(m)
		read := c.Signals.Read(m)
		found = append(found, read...)
		switch m := m.(type) {
		case procs.Text:
			whole = whole && m.Parent != "" || m.Parent == "" && len(read) > 0
		case procs.Refused:
			c.Refused = append(c.Refused, m)
		case procs.ToolUse:
			whole = whole && m.Parent != ""
		}
	})
	for _, last := range c.Signals.Scanner.EndTurn("") {
		found, whole = append(found, last), whole || !last.Inside
	}
	return found, after, whole, err
}
