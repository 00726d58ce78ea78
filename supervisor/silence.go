package supervisor

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"claude-supervise/procs"
)

// A pulse is what shows that a process is alive: when it last printed something, and which calls it has under way.
type pulse struct {
	begun time.Time    // what beat counts from, by a clock that does not jump
	beat  atomic.Int64 // when it last printed something
	calls []call       // under way, the newest last
}

// A call is a tool call under way.
type call struct{ id, doing string }

func (p *pulse) heard() { p.beat.Store(int64(time.Since(p.begun))) }

// quiet is how long nothing was heard. It may be called from any goroutine.
func (p *pulse) quiet() time.Duration { return time.Since(p.begun) - time.Duration(p.beat.Load()) }

// stirred takes note that a child has printed something. What it prints of a running tool whether or not anything moves
// is no sign of life.
func (e *engine) stirred(ctx context.Context, c *child, m procs.Message) error {
	switch m := m.(type) {
	case procs.Activity:
		if m.Beat {
			return nil
		}
	case procs.ToolUse:
		c.pulse.calls = append(c.pulse.calls, call{m.ID, doing(m)})
	case procs.ToolResult:
		c.pulse.calls = slices.DeleteFunc(c.pulse.calls, func(k call) bool { return k.id == m.ToolUse })
	case procs.Init, procs.Result: // no call outlives its turn
		c.pulse.calls = nil
	}
	c.pulse.heard()
	if l := e.state.live(c.agent); l != nil && l.N == c.launch && l.Silent != nil {
		return e.apply(ctx, Spoke{Agent: c.agent, Launch: c.launch})
	}
	return nil
}

// A process that does nothing but wait still uses some processor time: claude 2.1.329 was seen to use 0.1 to 0.5 % of
// one processor. That time is counted in steps of 10 ms.
const (
	idleShare = 0.01
	idleLeast = 50 * time.Millisecond
)

// watch waits until nothing was heard of a process at work for as long as the person lets it, and it used no processor
// time at the end of that.
func (e *engine) watch(f Effect) func(context.Context) result {
	c, after := e.children[f.Agent], f.Patience
	probe := min(max(after/4, time.Second), time.Minute, after)
	c.pulse.heard() // it counts from when something ought to be heard
	return func(ctx context.Context) result {
		for {
			if rest := after - probe - c.pulse.quiet(); rest > 0 {
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
			if quiet := c.pulse.quiet(); quiet >= after && spent-before < max(idleLeast, time.Duration(idleShare*float64(probe))) {
				return result{finish: func() Body {
					return FellSilent{Agent: f.Agent, Launch: f.Launch, Since: now().Add(-quiet), Doing: e.doing(c)}
				}}
			}
		}
	}
}

// doing says what a child was last seen to do.
func (e *engine) doing(c *child) string {
	if n := len(c.pulse.calls); n > 0 {
		return c.pulse.calls[n-1].doing
	}
	if l := e.state.live(c.agent); l != nil && !l.Turn && len(alive(l)) > 0 {
		return "waits for its background work: " + firstLine(alive(l)[0])
	}
	return "waits for the API"
}
