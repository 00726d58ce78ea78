package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/text"
)

// A process that does nothing but wait still uses some processor time: claude 2.1.329 was seen to use 0.1 to 0.5 % of
// one processor. That time is counted in steps of 10 ms.
const (
	idleShare = 0.01
	idleLeast = 50 * time.Millisecond
)

// A liveness is what shows that a process is alive: when it last printed something, and which calls it has under way.
type liveness struct {
	begun time.Time    // what beat counts from, by a clock that does not jump
	beat  atomic.Int64 // when it last printed something
	calls []call       // under way, the newest last
}

// A call is a tool call under way.
type call struct{ id, doing string }

func (p *liveness) active() { p.beat.Store(int64(time.Since(p.begun))) }

// quiet is how long nothing was heard. It may be called from any goroutine.
func (p *liveness) quiet() time.Duration { return time.Since(p.begun) - time.Duration(p.beat.Load()) }

// recordActivity takes note that a child has printed something. What it prints of a running tool whether or not
// anything moves is no sign of life.
func (e *engine) recordActivity(ctx context.Context, c *child, m procs.Message) error {
	switch m := m.(type) {
	case procs.Activity:
		if m.Beat {
			return nil
		}
	case procs.ToolUse:
		c.liveness.calls = append(c.liveness.calls, call{m.ID, listen.Doing(m)})
	case procs.ToolResult:
		c.liveness.calls = slices.DeleteFunc(c.liveness.calls, func(k call) bool { return k.id == m.ToolUse })
	case procs.Init, procs.Result: // no call outlives its turn
		c.liveness.calls = nil
	}
	c.liveness.active()
	if l := e.state.Live(c.Agent); l != nil && l.N == c.Launch && l.Stalled != nil {
		return e.apply(ctx, supervisor.Recovered{Agent: c.Agent, Launch: c.Launch})
	}
	return nil
}

// watch waits until nothing was heard of a process at work for as long as the person lets it, and it used no processor
// time at the end of that.
func (e *engine) watch(f effect.Effect) func(context.Context) result {
	c, after := e.children[f.Agent], f.Patience
	probe := min(max(after/4, time.Second), time.Minute, after)
	c.liveness.active() // it counts from when something ought to be heard
	return func(ctx context.Context) result {
		for {
			if rest := after - probe - c.liveness.quiet(); rest > 0 {
				if !sleep(ctx, rest) {
					return result{}
				}
				continue // it may have been heard of meanwhile
			}
			before, _ := c.process.CPU() // where it cannot be told, what it prints decides
			if !sleep(ctx, probe) {
				return result{}
			}
			spent, _ := c.process.CPU()
			if quiet := c.liveness.quiet(); quiet >= after &&
				spent-before < max(idleLeast, time.Duration(idleShare*float64(probe))) {
				return result{finish: func() supervisor.Event {
					return supervisor.Stalled{Agent: f.Agent, Launch: f.Launch, Since: e.Now().Add(-quiet),
						Doing: e.doing(c)}
				}}
			}
		}
	}
}

// doing says what a child was last seen to do.
func (e *engine) doing(c *child) string {
	if n := len(c.liveness.calls); n > 0 {
		return c.liveness.calls[n-1].doing
	}
	if l := e.state.Live(c.Agent); l != nil && !l.Phase.InTurn() && len(l.Alive()) > 0 {
		return "waits for its background work: " + text.FirstLine(l.Alive()[0])
	}
	return "waits for the API"
}
