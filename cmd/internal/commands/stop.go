package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

type stopFlags struct{ only, all, asJSON bool }

// Stop makes the command that stops runs and agents.
func (p Program) Stop(cmd *cobra.Command) *cobra.Command {
	var f stopFlags
	which := Choice{Takes: p.takes("the ids of runs", " or agents") + ", or --all", Fits: IsOpen,
		None: "no run is active", Sure: "Stop %s?"}
	cmd.Aliases = []string{"kill"}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := p.NotInside(cmd); err != nil {
			return err
		}
		switch {
		case f.all && (len(args) > 0 || f.only):
			return exitcode.Usage("--all stops every run: it takes no ids%s", p.takes("", " and no --only"))
		case !f.all && len(args) == 0:
			id, err := p.Chosen(cmd, args, which)
			if err != nil {
				return err
			}
			args = []string{id}
		}
		return p.with(cmd.Context(), func(s service.Runs) error { return f.each(cmd.Context(), s, args) })
	}
	if p.local() {
		cmd.Flags().BoolVar(&f.only, "only", false, "stop only this agent, not the agents it started")
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "stop every run"+p.Of+" that has not ended")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print each result as a JSON object, one per line")
	return p.command(p.completes(cmd, EitherOf(RunsOf(false, AnyRun), AgentsOf)))
}

// each stops one after the other, or with --all those that have not ended. That one cannot be stopped keeps none of the
// others.
func (f stopFlags) each(ctx context.Context, s service.Runs, ids []string) error {
	if f.all {
		found, err := s.List(ctx, false)
		if err != nil {
			return err
		}
		if len(found) == 0 && !f.asJSON {
			return terminal.Print(func(p *terminal.Printer) error { return p.Result("No run is active.") })
		}
		for _, r := range found {
			ids = append(ids, r.ID)
		}
	}
	var failed []error
	for _, id := range ids {
		stopped, err := s.End(ctx, id, f.only)
		if err == nil && stopped.Status != "" { // else it was said
			err = f.tell(stopped)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// tell says what became of a stop.
func (f stopFlags) tell(s service.Stopped) error {
	return terminal.Print(func(p *terminal.Printer) error {
		if s.Note != "" {
			defer p.Notice(s.Note)
		}
		if f.asJSON {
			return p.JSON(struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			}{s.ID, s.Status})
		}
		return p.Result(s.Text)
	})
}
