package engine

import (
	"context"
	"time"

	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
)

// This file is the effects that only wait for a time.

// hold waits until a process was held long enough.
func (e *engine) hold(f effect.Effect) func(context.Context) result {
	return e.awake(f, supervisor.HoldEnded{Agent: f.Agent, Launch: f.Launch})
}

// timeout waits until a call has waited long enough.
func (e *engine) timeout(f effect.Effect) func(context.Context) result {
	return e.awake(f, supervisor.TimedOut{Agent: f.Agent, Launch: f.Launch, Request: f.Request})
}

// awake waits for what is left until a time. It goes by a clock that neither jumps nor runs while the machine sleeps: a
// person has the whole of a hold to answer in. What waits so does not outlive its supervisor, so no other clock is
// needed.
func (e *engine) awake(f effect.Effect, then supervisor.Event) func(context.Context) result {
	left := f.Until.Sub(e.Now()) // it begins now, in the moment it was saved
	return func(ctx context.Context) result {
		if !sleep(ctx, left) {
			return result{}
		}
		return result{event: then}
	}
}

// awaitRetry waits until an agent may be launched again.
func (e *engine) awaitRetry(f effect.Effect) func(context.Context) result {
	return e.until(f, supervisor.RetryDue{Agent: f.Agent, Until: f.Until})
}

// until waits until the wall clock says that it is time, which may have been set by an earlier supervisor, and the
// machine may have slept; or as long as it was to be, should the clock have been put back. The wall clock is looked at
// once a minute at least, when the inbox is: the machine is woken for both at once.
func (e *engine) until(f effect.Effect, then supervisor.Event) func(context.Context) result {
	whole := f.Until.Sub(e.Now())
	return func(ctx context.Context) result {
		for begun := time.Now(); ; {
			left := waitLeft(f.Until, e.Now(), whole-time.Since(begun))
			if left <= 0 {
				return result{event: then}
			}
			tick := supervisor.PollInterval - time.Since(e.ticking)%supervisor.PollInterval
			if !sleep(ctx, min(left, tick)) {
				return result{}
			}
		}
	}
}

// waitLeft is how long a wait goes on: until a time by the wall clock, but no longer than by one that does not jump.
func waitLeft(until, wall time.Time, steady time.Duration) time.Duration {
	return min(until.Sub(wall), steady)
}

// sleep waits, and reports whether ctx has let it.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// waitOverdue waits until an agent's work takes longer than its estimate, by the wall clock, and names the question
// about it.
func (e *engine) waitOverdue(f effect.Effect) func(context.Context) result {
	wait := e.until(f, supervisor.Overdue{Agent: f.Agent})
	return func(ctx context.Context) result {
		r := wait(ctx)
		if r.event == nil {
			return r
		}
		return result{finish: func() supervisor.Event {
			asked := e.state.OverrunQuestion(e.state.Agents.Get(f.Agent))
			return supervisor.Overdue{Agent: f.Agent,
				Naming: e.naming(f.Agent, questions.AskOverrun, []signals.Question{asked}, "")}
		}}
	}
}

// clock tells how long a scope is at work. It goes by a clock that neither jumps nor runs while the machine sleeps, and
// tells it once a minute at least: more than that is not lost with the supervisor.
func (e *engine) clock(f effect.Effect) func(context.Context) result {
	a := e.state.Agents.Get(f.Agent)
	left := min(a.Budget.Time-a.Worked, supervisor.PollInterval)
	return func(ctx context.Context) result {
		begun := time.Now()
		_ = sleep(ctx, left) // what was worked counts, however the wait ends
		return result{event: supervisor.Worked{Agent: f.Agent, For: time.Since(begun)}}
	}
}

// ease waits for calm.
func (e *engine) ease(f effect.Effect) func(context.Context) result {
	return e.until(f, supervisor.Unthrottled{})
}
