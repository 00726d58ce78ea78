package supervisor

import "slices"

// GoesOnFrom names the agent whose conversation one goes on with, by its session where it is of another run; "" if it
// began empty.
func (s State) GoesOnFrom(a *Agent) string {
	if a.From == "" {
		return ""
	}
	agents := s.AllAgents()
	if at := slices.IndexFunc(agents, func(b *Agent) bool { return b.SessionID == a.From }); at >= 0 {
		return agents[at].ID
	}
	return "session " + a.From
}
