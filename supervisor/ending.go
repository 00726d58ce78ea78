package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/text"
)

// Why a launch is ended. Each is the name of the effect that does it.
const (
	EndFinish    = "finish"    // all is done: stdin is closed
	endPark      = "park"      // waits for a person: the process goes, the question stays
	endStop      = "stop"      // a person's stop
	endInterrupt = "interrupt" // the supervisor leaves
	endFail      = "fail"      // the agent has failed, its process still lives
	endRetry     = "retry"     // a passing failure: launched again later
	EndRecover   = "recover"   // of an earlier supervisor, whose hold on it is lost
	endBudget    = "budget"    // the agent may use no more
)

// end decides that the agent's process goes. What was decided first holds.
func (d *transition) end(agent, how, reason string) {
	if l := d.Live(agent); l != nil && l.End == "" {
		l = d.last(agent)
		l.End, l.EndReason = how, reason
	}
}

// reconcileEnding reports whether the launch is on its way out, and says so.
func (d *transition) reconcileEnding(a *Agent, l *Launch) bool {
	switch l.End {
	case "":
		return false
	case EndFinish:
		d.setStatus(a, checkpoints.Running, "finishing")
	case endPark:
		status := checkpoints.Waiting
		if len(d.Open(a.ID)) == 0 && len(d.WaitsFor(a.ID)) > 0 {
			status = checkpoints.Blocked
		}
		d.setStatus(a, status, "is being parked: "+l.EndReason)
	case endRetry:
		d.setStatus(a, checkpoints.Running, l.EndReason+"; will be tried again")
	case endBudget:
		d.setStatus(a, checkpoints.Running, l.EndReason+"; its process ends")
	case EndRecover:
		d.setStatus(a, checkpoints.Starting, "ending what is left of launch "+fmt.Sprint(l.N))
	default:
		d.setStatus(a, checkpoints.Stopping, l.EndReason)
	}
	a.HoldUntil = nil
	return true
}

// idleStatus says why an agent has no process.
func (d *transition) idleStatus(a *Agent, l *Launch, open []*Question) {
	if len(open) == 0 && l != nil && l.End == endPark {
		open = d.Assuming(a.ID)
	}
	switch {
	case a.Fault != "" || a.StopWanted != "":
		// Its end is concluded as soon as the transcript is read; until then it is as it was.
	case len(open) > 0:
		d.setStatus(a, checkpoints.Parked, "asks: "+text.FirstLine(open[0].Text))
	case l == nil:
		d.setStatus(a, checkpoints.Queued, "not yet started")
	default:
		d.setStatus(a, checkpoints.Interrupted, l.LastWords())
	}
}

// saysParked says of agents without a process what they wait for now: nobody reconciles them before resume.
func (d *transition) saysParked() {
	for _, a := range d.AllAgents() {
		open := d.Open(a.ID)
		if len(open) == 0 && a.Status == checkpoints.Parked {
			open = d.Assuming(a.ID)
		}
		if a.Status.Ended() || d.Live(a.ID) != nil || len(open) == 0 && a.Status != checkpoints.Parked {
			continue
		}
		d.idleStatus(d.agent(a.ID), d.Launch(a.ID), open)
	}
	if root := d.Agents.Get(d.Run.Root); !root.Status.Ended() {
		r := d.run()
		r.Status, r.Reason = root.Status, root.Reason
	}
}

// ending is of an agent whose process is on its way out.
var ending = concern{
	name: "ending",
	live: func(d *transition, of subject) bool { return d.reconcileEnding(of.Agent, of.launch) },
	plan: func(_ State, _ *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		switch {
		case l == nil || l.End == "" || l.Phase.Ended():
		case l.End == EndRecover:
			so = append(so, effect.Recover.Of(l))
		case l.Phase.Runs():
			so = append(so, effect.End.Of(l))
		}
		return so
	},
}

// Finishing reports whether all that is left of the run is that processes end whose work is done.
func (s State) Finishing() bool {
	if !s.AnyActive() || s.AnyPending() {
		return false
	}
	for _, a := range s.Active() {
		if l := s.Live(a.ID); l == nil || l.End != EndFinish {
			return false
		}
	}
	return true
}

// Endings says how each end of a launch is brought about.
var Endings = map[string]procs.Ending{
	EndFinish: procs.Finish, endPark: procs.Park, endRetry: procs.Park, endFail: procs.Park,
	endStop: procs.Stop, endInterrupt: procs.Park, endBudget: procs.Stop,
}
