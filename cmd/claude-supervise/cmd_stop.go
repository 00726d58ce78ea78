package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newStop() *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use:     "stop ID",
		Short:   "stop a run, or an agent and what it started",
		Long:    "Stop a run, or an agent and what it started. Its process is ended; what it\nwrote stays.",
		Example: "  claude-supervise stop r-3f9a2c1b",
		Args:    exactly(1, 1, "the id of a run or an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runStop(cmd.Context(), args[0], only)
		},
	}
	cmd.Flags().BoolVar(&only, "only", false, "only that agent, not what it started")
	return cmd
}

// runStop leaves the stop for the run's supervisor. Where there is none it takes the run over for as long as it takes to
// stop it, so that nothing is left for somebody to find.
func runStop(ctx context.Context, id string, only bool) error {
	client, err := supervisor.OpenClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	run, agent, ended, err := client.Target(ctx, id)
	if err != nil {
		return err
	}
	if ended {
		return print(func(p *terminal.Printer) error { return p.Result(run + " has already ended.") })
	}
	if err := client.Stop(ctx, run, agent, only, who("stop")); err != nil {
		return err
	}
	if !client.Supervised(run) {
		return stopAlone(ctx, run)
	}
	return print(func(p *terminal.Printer) error { return p.Result(run + " is being stopped.") })
}
