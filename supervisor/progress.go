package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// progressed takes what an agent says of how far it is. What a subagent says is how far its part is: that stands for
// the agent only until that says something itself.
func (d *transition) progressed(a *Agent, sig signals.Signal, by *checkpoints.Subagent) {
	if by != nil && a.Progress != nil && a.Progress.Of == "" {
		return
	}
	field := func(name string) string { return text.FirstLine(text.Truncate(sig.Field(name), text.MaxRestated)) }
	a.Progress = &checkpoints.Progress{Percent: strings.TrimSuffix(field("percent"), "%"), Step: field("step"),
		ETA: field("eta"), At: d.at}
	if by != nil {
		a.Progress.Of = by.Name()
	}
}
