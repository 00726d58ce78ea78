package service

import (
	"cmp"
	"context"
	"errors"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A Stopped is what a stop comes to.
type Stopped struct {
	Run        string
	ID, Status string // of the run or agent: stopping, stopped, ended, or kept until the run is resumed
	Text       string // for people
	Note       string // what else they should know
	Alone      bool   // nothing else is set but Run: nobody supervises it, so whoever stops it takes it over for that long
}

// maxBelow is how many agents are named that are stopped with another.
const maxBelow = 20

// Stop leaves a stop for the supervisor of a run: of the whole, or of an agent and, unless only is set, of what it has
// started. by says who does, for people.
func Stop(ctx context.Context, c client.Client, id string, only bool, by string) (Stopped, error) {
	run, agent, ended, err := c.Target(ctx, id)
	if err != nil {
		return Stopped{}, err
	}
	over := run // what has ended
	if agent != "" && !ended {
		v, err := c.Reader().Run(ctx, run)
		if err != nil {
			return Stopped{}, err
		}
		// the root's end is not yet that of the run
		if a, is := v.Agent(agent); is && a.ExitCode != nil && agent != v.Agents[0].ID {
			over, ended = agent, true
		}
	}
	if !ended {
		err = c.Stop(ctx, run, agent, only, by)
		ended = errors.Is(err, supervisor.ErrEnded)
	}
	switch {
	case ended:
		return Stopped{run, over, "ended", over + " has already ended.", "", false}, nil
	case err != nil:
		return Stopped{}, err
	}
	supervised := c.Supervised(ctx, run)
	v, err := c.Reader().Run(ctx, run)
	if err != nil {
		return Stopped{}, err
	}
	whole, becomes := becomesOf(v, agent, only)
	switch {
	case supervised:
		return Stopped{run, cmp.Or(agent, run), "stopping", becomes, "", false}, nil
	case !whole:
		return Stopped{run, agent, "kept", becomes + "\nNobody supervises " + run +
			": the stop is kept, and done when the run is resumed. Run:\n  claude-supervise resume " + run, "", false}, nil
	case v.EndedAt != nil && v.ExitCode != nil && *v.ExitCode == exit.Stopped:
		return Stopped{run, run, "stopped", run + " is stopped.", "", false}, nil
	case v.EndedAt != nil: // its supervisor ended it just now, too early for the stop
		return Stopped{run, run, "ended", run + " has already ended.", "", false}, nil
	}
	return Stopped{Run: run, Alone: true}, nil
}

// becomesOf says what the stop of an agent ends: the whole run, or itself and what it has started.
func becomesOf(v view.RunView, agent string, only bool) (whole bool, becomes string) {
	if agent == "" || agent == v.Agents[0].ID {
		return true, v.ID + " is being stopped."
	}
	var below []string
	view.EachBelow(v.Agents, func(_ int, a view.AgentView) {
		if standsBelow(v, a, agent) && a.ExitCode == nil {
			below = append(below, a.ID+" ("+a.Who+")")
		}
	})
	becomes = agent + " is being stopped"
	switch {
	case len(below) == 0:
		becomes += "."
	case only:
		becomes += ". What it has started continues, under the agent above it:"
	default:
		becomes += ", and with it:"
	}
	for _, name := range text.FirstOf(below, maxBelow) {
		becomes += "\n  " + name
	}
	return false, becomes
}

// standsBelow reports whether an agent stands below another.
func standsBelow(v view.RunView, a view.AgentView, above string) bool {
	for range v.Agents { // which may be in a circle, in a database that somebody has changed
		parent, is := v.Agent(a.Parent)
		switch {
		case !is:
			return false
		case parent.ID == above:
			return true
		}
		a = parent
	}
	return false
}
