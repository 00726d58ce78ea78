package supervisor

import "slices"

// What is planned of an agent by itself hangs on its own records and on its children's. So a state keeps it, and a step
// plans anew only the agents that it has touched, and their parents: an event costs the same in a run of one agent and
// of a thousand, but for a look at each part.

// A Part is what is planned of an agent by itself. It is never changed: where two states have the same one, nothing of
// it is different, and nothing of what it was made of.
type Part struct {
	Agent   string
	Effects []Effect
}

// Parts is a plan in parts, in the order in which they are carried out.
type Parts struct {
	First  []Effect // what holds others back
	Agents []*Part  // of each agent by itself, in the order in which they came, so that each keeps its place
	Rest   []Effect // of the run as a whole
}

// All gives the plan in one.
func (p Parts) All() []Effect {
	n := len(p.First) + len(p.Rest)
	for _, alone := range p.Agents {
		n += len(alone.Effects)
	}
	all := append(make([]Effect, 0, n), p.First...)
	for _, alone := range p.Agents {
		all = append(all, alone.Effects...)
	}
	return append(all, p.Rest...)
}

// Leaves reports whether nothing is left to do for this supervisor but to leave.
func (p Parts) Leaves() bool {
	return len(p.First) == 0 && len(p.Agents) == 0 && len(p.Rest) == 1 && p.Rest[0].Do == DoLeave
}

// OnlyTells reports whether nothing is left to do but to tell a person: all else waits for a time.
func (p Parts) OnlyTells() bool {
	tells := false
	for _, e := range p.All() {
		switch {
		case e.Do == DoNotify, e.Do == DoAnnounce:
			tells = true
		case e.acts():
			return false
		}
	}
	return tells
}

// acts reports whether anything of it does more than wait for a time.
func (p Parts) acts() bool {
	return slices.ContainsFunc(p.First, Effect.acts) || slices.ContainsFunc(p.Rest, Effect.acts) ||
		slices.ContainsFunc(p.Agents, func(alone *Part) bool { return slices.ContainsFunc(alone.Effects, Effect.acts) })
}

// Without gives the plan without the effects that f accepts.
func (p Parts) Without(f func(Effect) bool) Parts {
	without := func(es []Effect) []Effect { return slices.DeleteFunc(slices.Clone(es), f) }
	rest := Parts{First: without(p.First), Rest: without(p.Rest), Agents: make([]*Part, len(p.Agents))}
	for i, alone := range p.Agents {
		rest.Agents[i] = &Part{Agent: alone.Agent, Effects: without(alone.Effects)}
	}
	return rest
}

// planned returns what is planned of each agent by itself, in the order in which the agents came.
func (s State) planned() []*Part {
	if s.plans != nil {
		return s.plans
	}
	order := s.indexed().order
	plans := make([]*Part, len(order))
	for i, id := range order {
		plans[i] = s.planAlone(s.Agents[id])
	}
	return plans
}

func (s State) planAlone(a *Agent) *Part {
	return &Part{Agent: a.ID, Effects: append(s.planAgent(a), s.planWaits(a)...)}
}

// replan takes note of what is planned of the agents that a step has touched, whose state before is given. What changes
// the run as a whole has all of them planned anew.
func (d *transition) replan(before State, e Event) {
	if _, opened := e.(Opened); opened || unsupervised(e) || before.plans == nil {
		d.plans = nil
		d.plans = d.planned()
		return
	}
	plans := make([]*Part, len(d.index.order))
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
