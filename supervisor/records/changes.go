package records

import (
	"slices"

	"claude-supervise/checkpoints"
)

// Changes returns what differs between two states: the records to save.
func Changes(before, after Records) checkpoints.Change {
	c := checkpoints.Change{Taken: after.Taken}
	if after.Run != before.Run {
		c.Run = after.Run
	}
	var agents []*checkpoints.Agent
	agents, c.Questions, c.Deliveries = after.Changed(before)
	for _, a := range agents {
		if before.Agents.Get(a.ID) != a {
			c.Agents = append(c.Agents, a)
		}
		old := before.Launches.Get(a.ID)
		for i, l := range after.Launches.Get(a.ID) {
			if i >= len(old) || old[i] != l {
				c.Launches = append(c.Launches, l)
			}
		}
	}
	return c
}

// Changed returns the agents, in their order, the questions, the oldest first, and the deliveries whose records differ
// from those of an earlier state. An agent counts also if only its launches do. It takes time by how many these are.
func (s Records) Changed(before Records) (agents []*checkpoints.Agent, questions []*checkpoints.Question,
	deliveries []*checkpoints.Delivery) {
	for _, a := range s.Agents.Since(before.Agents, same) {
		agents = append(agents, a)
	}
	for id := range s.Launches.Since(before.Launches, slices.Equal) {
		if a := s.Agents.Get(id); a == before.Agents.Get(id) {
			agents = append(agents, a)
		}
	}
	slices.SortFunc(agents, byPlace)
	for _, q := range s.Questions.Since(before.Questions, same) {
		questions = append(questions, q)
	}
	slices.SortFunc(questions, byAge)
	for _, v := range s.Deliveries.Since(before.Deliveries, same) {
		deliveries = append(deliveries, v)
	}
	return agents, questions, deliveries
}

// SaysWords reports whether a step has begun to say answers or messages to an agent, for the first time or again: what
// was dropped may be made again under the same uuid.
func SaysWords(before, after Records) bool {
	_, _, deliveries := after.Changed(before)
	return slices.ContainsFunc(deliveries, func(v *checkpoints.Delivery) bool {
		old := before.Deliveries.Get(v.UUID)
		begun := old == nil || old.Seq != v.Seq
		return begun && (len(v.Groups) > 0 || len(v.Messages) > 0)
	})
}
