package records

import (
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/label"
)

// Awaited reports whether a client inside an agent, or a call of its own, waits for the end of a child: the process of
// the agent waits with it.
func (s Records) Awaited(agent string) bool {
	return len(checksWork(s.Live(agent))) > 0 ||
		slices.ContainsFunc(s.WithClients(agent), func(c *checkpoints.Agent) bool { return !c.Status.Ended() })
}

// Doing says what an agent does, as well as it has said it itself.
func (s Records) Doing(a *checkpoints.Agent) string {
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
func checksWork(l *checkpoints.Launch) (ids []string) {
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
func (s Records) Duration(a *checkpoints.Agent) time.Duration {
	var sum time.Duration
	for _, l := range s.Launches.Get(a.ID) {
		if l.StartedAt != nil && l.EndedAt != nil {
			sum += l.EndedAt.Sub(*l.StartedAt)
		}
	}
	return sum.Round(time.Second)
}
