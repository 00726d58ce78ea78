package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

func newWait() *cobra.Command {
	var c connection
	var limit time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wait RUN...",
		Short: "wait until runs of the fleet end or are parked",
		Long: `Wait until each run has ended, or is parked and waits for a person. One line is
printed for each.

The exit code is that of the run: 75 if it is parked, 4 if it is parked for its
budget is used up. For several it is the worst, in the order 70, 69, 1, 6, 5, 4,
130, 75, 3, 0. It is 124 after the timeout.`,
		Example: "  claude-supervise fleet wait r-3f9a2c1b\n" +
			"  claude-supervise fleet wait r-3f9a2c1b r-7uz22pon --timeout 30m",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exitcode.Usage("wait takes the ids of runs; claude-supervise fleet ps lists them")
			}
			ctx, cancel := cmd.Context(), context.CancelFunc(func() {})
			if cmd.Flags().Changed("timeout") {
				ctx, cancel = context.WithTimeout(ctx, max(limit, time.Second)) // 0: look once
			}
			defer cancel()
			return c.with(ctx, func(f connected) error { return waitFor(ctx, f, args, asJSON) })
		},
	}
	c.flags(cmd.Flags())
	cmd.Flags().DurationVar(&limit, "timeout", 0, "wait at most `TIME`; 0: look once")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each run as a JSON object, one per line")
	return cmd
}

func waitFor(ctx context.Context, f connected, ids []string, asJSON bool) error {
	ended := make([]flow.Listed, len(ids))
	var all errgroup.Group
	all.SetLimit(8) // the server has others to answer
	for i, id := range ids {
		all.Go(func() (err error) { ended[i], err = f.Wait(ctx, id); return err })
	}
	if err := all.Wait(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			say("Not all of them have ended or are parked. See: %s ps", fleetProgram)
			return exitcode.Error(supervisor.ExitTimedOut)
		}
		return err
	}
	worst := supervisor.ExitSuccess
	for _, r := range ended {
		worst = view.WorseCode(worst, r.Code())
		if err := terminal.Print(func(p *terminal.Printer) error {
			if asJSON {
				return p.JSON(r)
			}
			for _, q := range r.OpenQuestions {
				p.Notice(fmt.Sprintf("Answer with:\n  %s answer %s VALUE", fleetProgram, q))
			}
			return p.Result(runs.State(r.RunView))
		}); err != nil {
			return err
		}
	}
	if worst != supervisor.ExitSuccess {
		return exitcode.Error(worst)
	}
	return nil
}
