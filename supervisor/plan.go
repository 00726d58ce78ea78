package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// What is planned of an agent by itself hangs on its own records and on its children's. So a state keeps it, and a step
// plans anew only the agents that it has touched, and their parents: an event costs the same in a run of one agent and
// of a thousand, but for a look at each part.

// Plan returns what ought to be under way in a state. It is pure; the engine starts what is not yet in flight, in this
// order, and cancels waits that are planned no more. After a crash the same plan over the same records goes on.
func Plan(s State) []effect.Effect { return s.Plan(nil).All() }

// Plan is Plan without effects that this supervisor leaves to the next one, by their keys; in parts.
func (s State) Plan(undone []string) effect.Parts {
	if s.Run == nil || s.Run.Left != "" {
		return effect.Parts{}
	}
	s.Records = s.Indexed()
	plan := effect.Parts{First: s.planSnapshot(), Agents: slices.Collect(s.planned().Values()),
		// a snapshot first: what it holds back may be due with it
		Rest: s.planRest()}
	if unseen := s.FindPending(func(q *Question) bool {
		return q.State == checkpoints.QuestionOpen && q.Noticed != s.Run.Epoch && s.Run.TakenOver == nil
	}); len(unseen) > 0 { // one at a time, so that they are told in their order
		q := unseen[0]
		plan.Rest = append(plan.Rest, effect.Effect{Do: effect.Notify, Key: "notify " + q.ID, Agent: q.Agent, Question: q.ID})
	}
	if len(undone) > 0 || !s.leased() { // else none of them is left out
		left := make(map[string]bool, len(undone))
		for _, key := range undone {
			left[key] = true
		}
		plan = plan.Without(func(e effect.Effect) bool { return left[e.Key] || s.withheld(e.Do) })
	}
	if s.Run.Leaving == "" || plan.Acts() {
		return plan
	}
	if merge := s.planMerge(); len(merge) > 0 && !slices.Contains(undone, merge[0].Key) {
		return effect.Parts{Rest: merge}
	}
	announce := effect.Effect{Do: effect.Announce, Key: "announce " + s.Run.Leaving}
	if len(s.Config.Notify) > 0 && s.Run.Leaving != records.LeavingInterrupted && s.Run.Announced != s.Run.Leaving &&
		!slices.Contains(undone, announce.Key) {
		return effect.Parts{Rest: []effect.Effect{announce}}
	}
	return effect.Parts{Rest: []effect.Effect{{Do: effect.Leave, Key: "leave"}}}
}

// planRest plans what is to be done for the run as a whole by its concerns, in their order.
func (s State) planRest() (rest []effect.Effect) {
	for i := range concerns {
		if plan := concerns[i].planRun; plan != nil {
			rest = append(rest, plan(s)...)
		}
	}
	return rest
}

// planned returns what is planned of each agent by itself, in the order in which the agents came.
func (s State) planned() table.Table[*effect.Part] {
	if s.plans.Len() > 0 {
		return s.plans
	}
	var plans table.Table[*effect.Part]
	for a := range s.Agents.Values() {
		plans.Put(records.PlaceOf(a), s.planAlone(a))
	}
	return plans
}

func (s State) planAlone(a *Agent) *effect.Part {
	p := &effect.Part{Agent: a.ID}
	if a.Status.Ended() {
		return p
	}
	l := s.Launch(a.ID)
	if a.Placing || a.Tidying {
		l = nil
	}
	for i := range concerns {
		if plan := concerns[i].plan; plan != nil {
			p.Effects = plan(s, a, l, p.Effects)
		}
	}
	return p
}

// planAnew has all agents planned again once somebody wants to know.
func (d *transition) planAnew() { d.plans = table.Table[*effect.Part]{} }

// replan takes note of what is planned of the agents that a step has touched, and of their parents. What changes the
// run as a whole takes the plans away: all of them are planned again.
func (d *transition) replan() {
	if d.plans.Len() == 0 {
		d.plans = d.planned()
		return
	}
	anew := map[string]bool{}
	for id := range d.touched {
		anew[id] = true
		for _, a := range []*Agent{d.before.Agents.Get(id), d.Agents.Get(id)} {
			if a != nil {
				anew[a.Parent] = true
			}
		}
	}
	for id := range anew {
		if a := d.Agents.Get(id); a != nil { // the root has no parent
			d.plans.Put(records.PlaceOf(a), d.planAlone(a))
		}
	}
}
