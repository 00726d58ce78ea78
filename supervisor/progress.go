package supervisor

import (
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/label"
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

// doing says what an agent does, as well as it has said it itself.
func (s State) doing(a *Agent) string {
	if ids := checksWork(s.Live(a.ID)); len(ids) > 0 {
		return label.WaitsFor(ids)
	}
	p := a.Progress
	if p == nil {
		return "at work"
	}
	text := "at work"
	if p.Of != "" {
		text += ", its subagent " + p.Of
	}
	if p.Percent != "" {
		text += ", " + p.Percent + " %"
	}
	if p.Step != "" {
		text += ": " + p.Step
	}
	if p.ETA != "" {
		text += " (ready in " + p.ETA + ")"
	}
	return text
}

// checksWork names the agents that calls of check_work of a launch wait for.
func checksWork(l *Launch) (ids []string) {
	if l == nil {
		return nil
	}
	for _, r := range l.Replies {
		if r.Await != nil {
			ids = append(ids, r.Await.Children...)
		}
	}
	return ids
}

// Duration is how long the processes of an agent have lived.
func (s State) Duration(a *Agent) time.Duration {
	var sum time.Duration
	for _, l := range s.Launches.Get(a.ID) {
		if l.StartedAt != nil && l.EndedAt != nil {
			sum += l.EndedAt.Sub(*l.StartedAt)
		}
	}
	return sum.Round(time.Second)
}
