package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/label"
)

// stop wants the end of an agent (the root where the note names none) and, unless only that is meant, of what it
// started.
func (d *transition) stop(n InboxEntry) {
	id := n.Agent
	if id == "" {
		id = d.Run.Root
	}
	switch a := d.Agents.Get(id); {
	case a == nil:
		return
	case !a.Status.Ended():
		a = d.agent(id)
		a.StopOnly = n.Only && (a.StopOnly || a.StopWanted == "") // what was stopped with it stays stopped
		a.StopWanted = n.By
		if a.Parent != "" {
			d.touch(a.Parent) // which may only wait for its children's end
		}
	}
	if n.Only {
		return
	}
	for _, c := range d.Children(id) {
		n.Agent = c.ID
		d.stop(n)
	}
}

// stops end an agent that a person, or the end of the one above it, has stopped.
var stops = concern{
	name: "stops",
	live: func(d *transition, of subject) bool {
		if of.StopWanted != "" {
			d.end(of.ID, endStop, "stopped by "+of.StopWanted)
		}
		return false
	},
	idle: func(d *transition, of subject) bool {
		if of.StopWanted == "" {
			return false
		}
		d.finish(of.Agent, checkpoints.Stopped, "stopped by "+of.StopWanted)
		return true
	},
	group: func(d *transition, of subject) bool {
		left := d.WaitsFor(of.ID)
		switch why := "stopped by " + of.StopWanted; {
		case of.StopWanted == "":
			return false
		case slices.ContainsFunc(left, func(c *Agent) bool { return c.StopWanted == "" }):
			d.setStatus(of.Agent, checkpoints.Blocked, why+"; "+label.WaitsFor(label.Titles(left)))
		case len(left) > 0:
			d.setStatus(of.Agent, checkpoints.Stopping, why)
		default:
			d.finish(of.Agent, checkpoints.Stopped, why)
		}
		return true
	},
}
