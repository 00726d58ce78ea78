package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/records"
)

// predecessors hold an agent back that comes after others. One that has not succeeded fails it.
var predecessors = concern{name: "predecessors", idle: func(d *transition, of subject) bool {
	if p := d.Lacks(of.Agent); p != nil {
		d.fail(of.ID, records.FaultPredecessor,
			fmt.Sprintf("%s, which it comes after, has not succeeded: %s", label.Title(p), p.Status))
		d.finish(of.Agent, checkpoints.Failed, of.FaultReason)
		return true
	}
	why := d.Awaits(of.Agent)
	if why != "" {
		d.setStatus(of.Agent, checkpoints.Blocked, why)
	}
	return why != ""
}}
