package supervisor

// What is planned of an agent by itself hangs on its own records and on its children's. So a state keeps it, and a step
// plans anew only the agents that it has touched, and their parents: an event costs the same in a run of one agent and
// of a thousand, but for putting the parts together.

// planned returns what is planned of each agent by itself, in the order in which the agents came.
func (s State) planned() [][]Effect {
	if s.plans != nil {
		return s.plans
	}
	order := s.indexed().order
	plans := make([][]Effect, len(order))
	for i, id := range order {
		plans[i] = s.planAlone(s.Agents[id])
	}
	return plans
}

func (s State) planAlone(a *Agent) []Effect {
	return append(s.planAgent(a), s.planWaits(a)...)
}

// replan takes note of what is planned of the agents that a step has touched, whose state before is given. What changes
// the run as a whole has all of them planned anew.
func (d *transition) replan(before State, e Event) {
	if _, opened := e.(Opened); opened || unsupervised(e) || before.plans == nil {
		d.plans = nil
		d.plans = d.planned()
		return
	}
	plans := make([][]Effect, len(d.index.order))
	copy(plans, before.plans)
	anew := map[string]bool{}
	for id := range d.touched {
		anew[id] = true
		for _, a := range []*Agent{before.Agents[id], d.Agents[id]} {
			if a != nil {
				anew[a.Parent] = true
			}
		}
	}
	for id := range anew {
		if a := d.Agents[id]; a != nil { // the root has no parent
			plans[d.index.place[id]] = d.planAlone(a)
		}
	}
	d.plans = plans
}
