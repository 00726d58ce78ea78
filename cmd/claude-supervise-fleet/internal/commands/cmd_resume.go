package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
)

type resumeFlags struct {
	connection
	failed, asJSON bool
}

func newResume() *cobra.Command {
	var f resumeFlags
	cmd := &cobra.Command{
		Use:   "resume RUN | --failed RUN [flags] [-- CLAUDE FLAGS...]",
		Short: "try what failed in a run of the fleet again",
		Long: `Go on with a run that has ended. --failed tries the agents again that failed or
reported failure, in their conversations, from the last snapshot. Work that
succeeded is not repeated. Without it, a run goes on that was stopped or ended
without a report. If several people do so at once, one of them does, and the
others are told.

A run that has not ended needs no resume: answered, it goes on by itself. One
that waits to be tried again, because no worker could have it, is tried at once.

Flags apply to the run from now on. --allow RULE and the flags after -- are
added to those that it was handed in with; others replace the earlier value.`,
		Example: "  claude-supervise fleet resume --failed r-3f9a2c1b\n" +
			"  claude-supervise fleet resume --failed r-3f9a2c1b --max-cost-usd 5 \\\n      -- --model opus\n" +
			"  claude-supervise fleet resume r-3f9a2c1b",
		Args: request.ExactlyBeforeDash(1, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			args, claude := request.BeforeDash(cmd, args)
			if why := doctor.ReservedFlag(claude); why != "" {
				return exitcode.Usage("%s", why)
			}
			return f.with(cmd.Context(), func(c connected) error { return runResume(cmd, c, args[0], f, claude) })
		},
	}
	f.connection.flags(cmd.Flags())
	cmd.Flags().BoolVar(&f.failed, "failed", false, "retry the agents that failed")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print a JSON object")
	addPassed(cmd.Flags(), true)
	return cmd
}

func runResume(cmd *cobra.Command, c connected, id string, f resumeFlags, claude []string) error {
	ctx := cmd.Context()
	r, err := c.Run(ctx, id)
	if err != nil {
		return err
	}
	_, given := passed(cmd.Flags())
	switch ended := r.ExitCode != nil; {
	case ended:
	case f.failed && !slices.ContainsFunc(r.Agents, hasFailed):
		return nothingFailed(r)
	case len(given) > 0 || len(claude) > 0 || f.failed:
		return fmt.Errorf("%s has not ended, and flags are given to a run only when it is begun again; nothing was "+
			"changed. It is %s: %s", r.ID, r.Status, terminal.CleanLine(r.Reason, 0))
	case r.Parked():
		say("%s", strings.TrimSpace(runs.State(r.View())+"\n"+fleetProgram.Answers(r.View())))
		return exitcode.Error(r.Code())
	}
	becomes, err := c.goesOn(ctx, r, f.failed, given, claude)
	if err != nil {
		return err
	}
	if r.ExitCode == nil {
		becomes = runs.State(r.View()) + "\n" + becomes
	}
	return tell(f.asJSON, r.ID, becomes)
}

// goesOn has a run begun again that has ended, with more flags of run and of claude; failed: what failed in it is tried
// again. One that has not ended, and that no worker has, is tried at once, where it waits for that. becomes says what
// becomes of the run.
func (c connected) goesOn(ctx context.Context, r flow.Listed, failed bool, given, claude []string) (becomes string,
	err error) {
	switch {
	case r.ExitCode == nil && r.Worker != "":
		return "", fmt.Errorf("%s cannot be resumed: worker %s supervises it; it continues when its questions are answered",
			r.ID, terminal.CleanLine(r.Worker, 0))
	case r.ExitCode == nil:
		return "If it waits to be tried again, that is done now.", c.Now(ctx, r.ID, fleet.Who())
	}
	if err := mayResume(r, failed); err != nil {
		return "", err
	}
	err = c.Again(ctx, r.ID, func(in *flow.Input) {
		in.Retry, in.Parked = failed, false
		in.Task.Given = append(slices.Clip(in.Task.Given), given...)
		in.Task.Flags = append(slices.Clip(in.Task.Flags), given...)
		in.Task.Claude = append(slices.Clip(in.Task.Claude), claude...)
		in.Seen.Notes = append(slices.Clip(in.Seen.Notes), "it is resumed by "+fleet.Who())
	})
	return r.ID + " is submitted again; a worker continues it.", err
}

// resuming is a desk at which runs are resumed, too: that of the board.
type resuming struct {
	*desk.Desk
	fleet connected
}

// Resume continues a run as a key of the board asks for it.
func (d resuming) Resume(ctx context.Context, id string) (string, error) {
	r, err := d.fleet.Run(ctx, id)
	switch {
	case err != nil:
		return "", err
	case r.Parked():
		return r.ID + " continues by itself once it is answered.", nil
	}
	return d.fleet.goesOn(ctx, r, false, nil, nil)
}

// Retry tries again what failed in a run, as a key of the board asks for it.
func (d resuming) Retry(ctx context.Context, id string) (string, error) {
	r, err := d.fleet.Run(ctx, id)
	switch {
	case err != nil:
		return "", err
	case r.ExitCode == nil:
		return "", fmt.Errorf("%s has not ended; what failed in it is tried again once it has. Nothing was changed", r.ID)
	}
	return d.fleet.goesOn(ctx, r, true, nil, nil)
}

func hasFailed(a flow.AgentInfo) bool {
	return a.ExitCode != nil && *a.ExitCode != exit.Success
}

func nothingFailed(r flow.Listed) error {
	return fmt.Errorf("nothing in %s has failed, so there is nothing to retry; it is %s: %s", r.ID, r.Status,
		terminal.CleanLine(r.Reason, 0))
}

// mayResume says of a run that has ended why nobody can go on with it.
func mayResume(r flow.Listed, failed bool) error {
	code := *r.ExitCode
	switch {
	case failed && (code == exit.Success || code == exit.Stopped):
		return nothingFailed(r)
	case !failed && code != exit.Stopped && code != exit.Unreported:
		return fmt.Errorf("%s has ended (%s: %s); there is nothing to resume. To try again what failed:\n"+
			"  %s resume --failed %s", r.ID, r.Status, terminal.CleanLine(r.Reason, 0), fleetProgram, r.ID)
	}
	return nil
}

// tell prints what becomes of a run, or its id for programs.
func tell(asJSON bool, id, words string) error {
	return terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(map[string]string{"id": id, "run": id})
		}
		return p.Result(words)
	})
}
