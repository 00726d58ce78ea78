package supervisor

import (
	"errors"
	"maps"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/effect"
)

// Surveyed says that the checkpoint of an ended launch is on disk, and what it tells.
type Surveyed struct {
	Agent      string
	Launch     int
	Checkpoint string
	Unread     []Named       `json:"Unheard"`    // signals of its last turn, if that was lost; most of them are known
	Refused    []CallRefused `json:",omitempty"` // calls that it has refused by itself in it, the same
	Whole      bool          // that turn came to its end all the same
	After      string        `json:",omitempty"` // the delivery that they come after in the conversation, which so has it

	// ByHook is what hooks of the person's own have decided about calls whose questions are Undecided, by tool use.
	ByHook map[string]*procs.HookDecision `json:",omitempty"`

	// Subagents are those that have asked in a call, by the id of the first question of it.
	Subagents map[string]checkpoints.Subagent `json:",omitempty"`
}

var _ = kind[Surveyed]("surveyed")

// apply takes what was found of a launch that has ended, and hears what was not heard of it.
func (e Surveyed) apply(d *transition) error {
	a := d.agent(e.Agent)
	a.Checkpoint = e.Checkpoint
	if err := d.onEnded(e.Agent, e.Launch, func(l *Launch) { l.Enter(checkpoints.LaunchSurveyed) }); err != nil {
		return err
	}
	d.lookedUp(e.Subagents)
	for _, call := range slices.Sorted(maps.Keys(e.ByHook)) {
		d.decidedByHook(e.Agent, call, e.ByHook[call])
	}
	if a.Status.Ended() {
		return nil // stopped or failed meanwhile: nobody answers it any more; revived, it is told to go on
	}
	if v := d.Deliveries.Get(e.After); v != nil && v.WaitsForReceipt() {
		d.arrived(e.After) // what it asks again after an answer is a new question
	}
	for _, n := range e.Unread {
		if hasPart(a, n) {
			continue
		}
		if err := d.signal(e.Agent, n); err != nil && !errors.Is(err, ErrUnwelcome) {
			return err
		}
	}
	for _, refused := range e.Refused {
		d.callRefused(refused)
	}
	if e.Whole {
		a.GoOn = false
		return d.onEnded(e.Agent, e.Launch, func(l *Launch) { l.Turns++ })
	}
	return nil
}

// survey holds an agent back until its last launch was looked through.
var survey = concern{
	name: "survey",
	idle: func(d *transition, of subject) bool {
		if of.launch == nil || !surveyDue(of.Agent, of.launch) {
			return false
		}
		d.idleStatus(of.Agent, of.launch, of.open)
		return true
	},
	plan: func(_ State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l != nil && l.Phase.Ended() && surveyDue(a, l) {
			so = append(so, effect.Survey.Of(l))
		}
		return so
	},
}
