package supervisor

import "slices"

// This file is how the agents of a run hang together: whom an agent waits for, who is told of its end, and what a run
// comes to.

// FormerIDs are those that count as an agent's own beside its id: the person's, and of the agents whose conversation it
// continues, which has them.
func (s State) FormerIDs(agent string) []string {
	ids := slices.Clone(s.Config.AcceptIDs)
	for again := true; again; {
		again = false
		for _, a := range s.AllAgents() {
			if a.ContinuedBy == agent && a.ContinuedBy != "" && a.ID != agent && !slices.Contains(ids, a.ID) {
				ids, agent, again = append(ids, a.ID), a.ID, true
				break
			}
		}
	}
	return ids
}
