package engine

import (
	"context"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
)

// A queue is what is under way of one part of the plan. What is planned of an agent by itself is looked through only
// where that has changed, where something of it waits to be begun, or has come to its end: an event costs the same
// beside no other agent and beside a thousand.
type queue struct {
	plan     *effect.Part // that was carried out last; nil: none, or the run as a whole
	underway []*underway
	again    bool // it is to be looked through, though its plan may be the same
}

// carryOut starts what is planned and not in flight, and cancels waits that are planned no more. It reports whether
// the supervisor has left.
func (e *engine) carryOut(ctx context.Context) (left bool, err error) {
	if e.state.Run.Left != "" {
		return true, nil // with the end of its last agent
	}
	e.interrupted = e.interrupted || e.state.Run.TakenOver != nil
	plan := e.hooks.plan(e.state, e.undone)
	leaving := plan.Leaves()
	e.boundTelling(plan, leaving)
	if leaving && len(e.inflight) == 0 && (e.state.Run.Leaving != records.LeavingParked ||
		!e.expects(e.state.FindQuestions((*checkpoints.Question).IsOpen))) { // else what is begun is ended first
		if err := e.apply(ctx, supervisor.Left{Undone: e.undone}); err != nil {
			return false, err
		}
		if e.state.Run.Left != "" {
			return true, nil
		}
		return e.carryOut(ctx) // an answer came in before the file drop was shut
	}
	if leaving {
		plan.Rest = nil
	}
	e.ofRun.unplanned()
	e.begin(ctx, &e.ofRun, plan.First)
	everyone := leaving || e.interrupted || e.state.Bounded() // what hastens effects may have come from elsewhere
	for len(e.ofAgents) < len(plan.Agents) {
		e.ofAgents = append(e.ofAgents, &queue{})
	}
	for i, c := range e.ofAgents {
		var alone *effect.Part // nil where nothing is planned of any agent
		if i < len(plan.Agents) {
			alone = plan.Agents[i]
		}
		if c.plan == alone && !c.again && !everyone {
			continue
		}
		c.plan, c.again = alone, false
		c.unplanned()
		if alone != nil {
			e.begin(ctx, c, alone.Effects)
		}
		e.attend(c, leaving)
	}
	e.begin(ctx, &e.ofRun, plan.Rest)
	e.attend(&e.ofRun, leaving)
	if e.hooks.carried != nil {
		e.hooks.carried(plan, leaving)
	}
	return false, nil
}

// unplanned has nothing that is under way planned, until it is found in the plan.
func (c *queue) unplanned() {
	for _, u := range c.underway {
		u.planned = false
	}
}

// begin starts of what is planned what is not in flight, and may begin.
func (e *engine) begin(ctx context.Context, c *queue, plan []effect.Effect) {
	for _, effect := range plan {
		if u, ok := e.inflight[effect.Key]; ok {
			u.planned = true
		} else if !e.heldBack(effect.Do) && !e.putOff(effect) {
			e.start(ctx, effect, c)
		} else {
			c.again = true
		}
	}
}

// attend cancels waits that are planned no more, and has those effects come to their end that somebody waits for.
func (e *engine) attend(c *queue, leaving bool) {
	for _, u := range c.underway {
		switch {
		case u.planned && u.effect.Do.Wait() && !e.interrupted: // most of them, where there are many
		case !u.planned && (u.effect.Do.Wait() || u.effect.Do == effect.Run): // a person's command ends with its plan
			u.cancel(errNoNeed)
		default:
			if why := e.reasonToEnd(u, leaving); why != nil {
				e.endSoon(u, why)
			} else if !u.planned {
				c.again = true // that somebody waits for its end may change no plan
			}
		}
	}
}

// finished takes an effect out of those in flight. If it is planned still, it is begun again.
func (e *engine) finished(u *underway) {
	delete(e.inflight, u.effect.Key)
	if c := u.of; c != nil {
		c.underway, c.again = slices.DeleteFunc(c.underway, func(other *underway) bool { return other == u }), true
	}
}
