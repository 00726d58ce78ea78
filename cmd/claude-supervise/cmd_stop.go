package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// stopEnds is what a stop does, to the command and to the page.
const stopEnds = "Its process is ended; what it wrote stays."

func newStop() *cobra.Command {
	var f stopFlags
	cmd := &cobra.Command{
		Use:     "stop ID... | --all",
		Aliases: []string{"kill"},
		Short:   "stop a run, or an agent and the agents it started",
		Long: `Stop a run, or an agent and the agents it started.
` + stopEnds + ` The other agents of the run
continue, and the agent that started it is told. If one of several cannot be
stopped, the others are stopped all the same.`,
		Example: "  claude-supervise stop r-3f9a2c1b\n  claude-supervise stop a-7Qm2xK9fWb4T --only\n" +
			"  claude-supervise stop r-3f9a2c1b nightly\n  claude-supervise stop --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			switch {
			case f.all && (len(args) > 0 || f.only):
				return usage("--all stops every run: it takes no ids and no --only")
			case !f.all && len(args) == 0:
				return usage("stop takes the ids of runs or agents, or --all; `%s --help` has an example", cmd.CommandPath())
			}
			return runStops(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.only, "only", false, "stop only this agent, not the agents it started")
	cmd.Flags().BoolVar(&f.all, "all", false, "stop every run that has not ended")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print each result as a JSON object, one per line")
	return completes(cmd, completeEither(completeRuns(false, anyRun), completeAgents))
}

type stopFlags struct{ only, all, asJSON bool }

// runStops stops one after the other. That one cannot be stopped keeps none of the others.
func runStops(ctx context.Context, ids []string, f stopFlags) error {
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	if f.all {
		runs, err := client.Reader().Runs(ctx, false)
		if err != nil {
			return err
		}
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if len(ids) == 0 && !f.asJSON {
			return terminal.Print(func(p *terminal.Printer) error { return p.Result("No run is active.") })
		}
	}
	var failed []error
	for _, id := range ids {
		if err := runStop(ctx, client, id, f); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// runStop leaves the stop for the run's supervisor. Where there is none it takes the run over for as long as it takes
// to stop it, so that nothing is left for somebody to find.
func runStop(ctx context.Context, client client.Client, id string, f stopFlags) error {
	run, agent, ended, err := client.Target(ctx, id)
	if err != nil {
		return err
	}
	over := run // what has ended
	if agent != "" && !ended {
		v, err := client.Reader().Run(ctx, run)
		if err != nil {
			return err
		}
		// the root's end is not yet that of the run
		if a, is := v.Agent(agent); is && a.ExitCode != nil && agent != v.Agents[0].ID {
			over, ended = agent, true
		}
	}
	if !ended {
		err = client.Stop(ctx, run, agent, f.only, terminal.Who("stop"))
		ended = errors.Is(err, supervisor.ErrEnded)
	}
	switch {
	case ended:
		return f.tell(over, "ended", over+" has already ended.")
	case err != nil:
		return err
	}
	becomes, err := stopped(ctx, client, run, agent, f.only)
	if err != nil {
		return err
	}
	switch {
	case client.Supervised(ctx, run):
		return errors.Join(f.tell(cmp.Or(agent, run), "stopping", becomes.text), tellSuspended(ctx, client, run))
	case becomes.whole:
		return stopAlone(ctx, run, f)
	}
	return f.tell(agent, "kept", becomes.text+"\nNobody supervises "+
		run+": the stop is kept, and done when the run is resumed. Run:\n"+
		"  claude-supervise resume "+run)
}

// tell says what became of a stop.
func (f stopFlags) tell(id, status, text string) error {
	return terminal.Print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			}{id, status})
		}
		return p.Result(text)
	})
}

// A stop is what one comes to.
type stop struct {
	whole bool   // the run itself ends
	text  string // for people
}

// stopped says what the stop of an agent ends: itself, and what it has started.
func stopped(ctx context.Context, c client.Client, run, agent string, only bool) (stop, error) {
	v, err := c.Reader().Run(ctx, run)
	if err != nil {
		return stop{}, err
	}
	if agent == "" || agent == v.Agents[0].ID {
		return stop{whole: true, text: run + " is being stopped."}, nil
	}
	var below []string
	view.EachBelow(v.Agents, func(_ int, a view.AgentView) {
		if standsBelow(v, a, agent) && a.ExitCode == nil {
			below = append(below, a.ID+" ("+a.Who+")")
		}
	})
	text := agent + " is being stopped"
	switch {
	case len(below) == 0:
		text += "."
	case only:
		text += ". What it has started continues, under the agent above it:\n  " + strings.Join(runs.FirstOf(below), "\n  ")
	default:
		text += ", and with it:\n  " + strings.Join(runs.FirstOf(below), "\n  ")
	}
	return stop{text: text}, nil
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
