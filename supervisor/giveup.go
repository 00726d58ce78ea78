package supervisor

// Hastens reports whether somebody waits for the end of what is done for an agent: it is stopped, or the time is used
// up that it may work, alone or with those above it.
func (s State) Hastens(agent string) bool {
	a := s.Agents[agent]
	if a != nil && a.StopWanted != "" {
		return true
	}
	for ; a != nil; a = s.Agents[a.Parent] {
		if b := a.Budget; b != nil && b.Time > 0 && a.Worked >= b.Time {
			return true
		}
	}
	return false
}
