package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/label"
)

// waitForChildren keeps a process that has nothing to do until its children have ended, as long as one is held.
func (d *transition) waitForChildren(a *Agent, l *Launch) {
	switch {
	case d.Config.Hold == 0:
		d.end(a.ID, endPark, "no process is held for its children")
		d.reconcileEnding(a, l)
		return
	case d.Config.Hold == conf.Forever:
		a.HoldUntil = nil
	case a.HoldUntil == nil:
		until := d.at.Add(d.Config.Hold)
		a.HoldUntil = &until
	}
	d.setStatus(a, checkpoints.Blocked, label.WaitsFor(label.Titles(d.WaitsFor(a.ID))))
}

// children hold an agent back that is not done without them.
var children = concern{
	name: "children", holds: true,
	live: func(d *transition, of subject) bool {
		waits := len(d.WaitsFor(of.ID)) > 0
		if waits {
			d.waitForChildren(of.Agent, of.launch)
		}
		return waits
	},
	idle: func(d *transition, of subject) bool {
		return d.toldAll(of) && d.blockedByChildren(of)
	},
	group: (*transition).blockedByChildren,
}

func (d *transition) blockedByChildren(of subject) bool {
	left := d.WaitsFor(of.ID)
	if len(left) > 0 {
		d.setStatus(of.Agent, checkpoints.Blocked, label.WaitsFor(label.Titles(left)))
	}
	return len(left) > 0
}
