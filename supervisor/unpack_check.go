package supervisor

// UnendedAgents is how many agents go on, or may begin.
func (s State) UnendedAgents() int {
	n := 0
	for _, a := range s.Agents {
		if !a.Status.Ended() {
			n++
		}
	}
	return n
}
