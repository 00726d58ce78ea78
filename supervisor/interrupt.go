package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/records"
)

// InterruptAsked is the person's ctrl-C, or the machine going down: leave gently.
type InterruptAsked struct{ By string }

var _ = kind[InterruptAsked]("interrupt_asked")

func (InterruptAsked) apply(d *transition) error {
	d.run().Leaving = records.LeavingInterrupted
	d.touchAll()
	return nil
}

func (d *transition) whyInterrupted() string {
	if over := d.Run.TakenOver; over != nil {
		return fmt.Sprintf("it continues elsewhere: epoch %d, %s", over.Epoch, over.By)
	}
	return "the supervisor was interrupted"
}

// interrupt ends the processes of a run whose supervisor leaves.
var interrupt = concern{
	name: "interrupt",
	live: func(d *transition, of subject) bool {
		if d.Run.Leaving == records.LeavingInterrupted {
			d.end(of.ID, endInterrupt, d.whyInterrupted())
		}
		return false
	},
	group: func(d *transition, of subject) bool {
		if d.Run.Leaving != records.LeavingInterrupted || len(d.WaitsFor(of.ID)) == 0 {
			return false
		}
		d.setStatus(of.Agent, checkpoints.Interrupted, "the supervisor was interrupted")
		return true
	},
}

// leaving holds an agent back that could go on: its supervisor leaves.
var leaving = concern{name: "leaving", idle: func(d *transition, of subject) bool {
	if d.Run.Leaving != records.LeavingInterrupted {
		return false
	}
	d.idleStatus(of.Agent, of.launch, of.open)
	return true
}}
