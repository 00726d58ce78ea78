package supervisor

import (
	"maps"
	"slices"
)

// What differs between two states of one run is found without a look at each record, where one came of the other by a
// few steps: each step leaves what it has touched.

// mostRecent is how many steps a state remembers: more than the engine saves in one transaction, as a rule.
const mostRecent = 32

// A touch is the records that a step may have changed or added. Launches go with their agents.
type touch struct {
	agents, questions, deliveries map[string]bool
}

// remember takes note of what a step has touched. An event that makes records in another way leaves nothing to go by.
func (d *transition) remember(e Event) {
	if unsupervised(e) {
		d.recent = nil
		return
	}
	recent := d.recent[max(0, len(d.recent)-mostRecent+1):]
	d.recent = append(slices.Clip(recent), &touch{d.touched, d.asked, d.said})
}

// since returns what was touched on the way from a state to this one; known is false where that cannot be said.
func (s State) since(before State) (t touch, known bool) {
	if len(before.recent) == 0 {
		return t, false
	}
	at := slices.Index(s.recent, before.recent[len(before.recent)-1])
	if at < 0 {
		return t, false
	}
	later := s.recent[at+1:]
	if len(later) == 1 {
		return *later[0], true
	}
	t = touch{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, one := range later {
		maps.Copy(t.agents, one.agents)
		maps.Copy(t.questions, one.questions)
		maps.Copy(t.deliveries, one.deliveries)
	}
	return t, true
}

// changed returns the agents, in their order, the questions, the oldest first, and the deliveries whose records differ
// from those of an earlier state. An agent counts also if only its launches do.
func (s State) changed(before State) (agents []*Agent, questions []*Question, deliveries []*Delivery) {
	t, known := s.since(before)
	if !known {
		t = touch{map[string]bool{}, map[string]bool{}, map[string]bool{}}
		for id := range s.Agents {
			t.agents[id] = true
		}
		for id := range s.Questions {
			t.questions[id] = true
		}
		for id := range s.Deliveries {
			t.deliveries[id] = true
		}
	}
	for id := range t.agents {
		if a := s.Agents[id]; a != nil && (a != before.Agents[id] || !slices.Equal(s.Launches[id], before.Launches[id])) {
			agents = append(agents, a)
		}
	}
	place := s.indexed().place
	slices.SortFunc(agents, func(a, b *Agent) int { return place[a.ID] - place[b.ID] })
	for id := range t.questions {
		if q := s.Questions[id]; q != nil && q != before.Questions[id] {
			questions = append(questions, q)
		}
	}
	slices.SortFunc(questions, byAge)
	for id := range t.deliveries {
		if v := s.Deliveries[id]; v != nil && v != before.Deliveries[id] {
			deliveries = append(deliveries, v)
		}
	}
	return agents, questions, deliveries
}
