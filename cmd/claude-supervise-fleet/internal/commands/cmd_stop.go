package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
)

type stopFlags struct {
	connection
	all, asJSON bool
}

func newStop() *cobra.Command {
	var f stopFlags
	cmd := &cobra.Command{
		Use:     "stop RUN... | --all",
		Aliases: []string{"kill"},
		Short:   "stop runs of the fleet",
		Long: `Stop runs of the fleet, wherever they are. Their processes are ended; what they
wrote is in their last snapshots. If one of several cannot be stopped, the
others are stopped all the same.`,
		Example: "  claude-supervise fleet stop r-3f9a2c1b\n  claude-supervise fleet stop --all",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			switch {
			case f.all && len(args) > 0:
				return exitcode.Usage("--all stops every run: it takes no ids")
			case !f.all && len(args) == 0:
				return help.Takes(cmd, "the ids of runs, or --all")
			}
			return f.with(cmd.Context(), func(c connected) error { return runStops(cmd.Context(), c, args, f) })
		},
	}
	f.connection.flags(cmd.Flags())
	cmd.Flags().BoolVar(&f.all, "all", false, "stop every run of the fleet that has not ended")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print each result as a JSON object, one per line")
	return cmd
}

// runStops stops one after the other. That one cannot be stopped keeps none of the others.
func runStops(ctx context.Context, c connected, ids []string, f stopFlags) error {
	if f.all {
		runs, err := c.Runs(ctx, false, false)
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
		failed = append(failed, stopOne(ctx, c, id, f))
	}
	return errors.Join(failed...)
}

func stopOne(ctx context.Context, c connected, id string, f stopFlags) error {
	r, err := c.Run(ctx, id)
	if err != nil {
		return err
	}
	status, words := "stopping", r.ID+" is being stopped."
	if r.ExitCode == nil {
		if err = c.Stop(ctx, r.ID, fleet.Who()); err == nil {
			// no worker had it, so that it has ended; that this cannot be read does not matter
			if now, unread := c.Run(ctx, r.ID); unread == nil && now.ExitCode != nil {
				status, words = "stopped", r.ID+" is stopped."
			}
		}
	}
	var refused *fleet.RefusedError
	if r.ExitCode != nil || errors.As(err, &refused) && refused.Kind == flow.ErrEnded {
		status, words, err = "ended", r.ID+" has already ended.", nil
	}
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			}{r.ID, status})
		}
		return p.Result(words)
	})
}
