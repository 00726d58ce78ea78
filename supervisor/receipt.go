package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
)

// receipts hold an agent back without a process: what was said last may or may not have reached its conversation.
var receipts = concern{
	name: "receipts",
	idle: func(d *transition, of subject) bool {
		if !d.Uncertain(of.ID) {
			return false
		}
		d.idleStatus(of.Agent, of.launch, of.open)
		return true
	},
	plan: func(s State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l == nil || !l.Phase.Ended() {
			return so
		}
		for _, v := range s.FindDeliveries(a.ID, (*checkpoints.Delivery).WaitsForReceipt) {
			so = append(so, effect.Confirm.OfDelivery(l, v.UUID))
		}
		return so
	},
}

// reads reports whether a prompt is on its way to the process of a launch, whose turn may not have begun: a turn that
// the CLI began by itself may have come between.
func (d *transition) reads(l *Launch) bool {
	return d.Abilities().TakesInput && len(d.FindDeliveries(l.Agent,
		func(v *Delivery) bool { return v.Launch == l.N && v.Prompt() && v.Undelivered() })) > 0
}
