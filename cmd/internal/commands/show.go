package commands

import (
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Show makes the command that shows a run, an agent or a question.
func (p Program) Show(cmd *cobra.Command) *cobra.Command {
	var asJSON, diff bool
	which := Choice{Takes: p.takes("the id of a run", ", an agent or a question"), Fits: AnyRun,
		None: "there is no run to show", Reads: true}
	cmd.Args = help.Exactly(p.least(), 1, which.Takes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := p.Chosen(cmd, args, which)
		if err != nil {
			return err
		}
		var d view.Details
		var changed string
		err = p.with(cmd.Context(), func(s service.Runs) (err error) {
			if d, err = s.Show(cmd.Context(), id); err != nil || !diff {
				return err
			} else if asJSON || d.Question != nil {
				return exitcode.Usage("--diff shows what a run or an agent has changed, as text")
			}
			changed, err = s.(service.Differ).Diff(cmd.Context(), id, true)
			return err
		})
		switch {
		case err != nil:
			return err
		case diff:
			return terminal.Page(os.Stdout, changed, os.LookupEnv)
		}
		return terminal.Print(func(to *terminal.Printer) error {
			switch {
			case asJSON && d.Question != nil:
				return to.JSON(d.Question)
			case asJSON:
				return to.JSON(d)
			case d.Question != nil:
				return to.Result(asking.Whole(to.Columns(), *d.Question))
			}
			return to.Result(p.Name.Show(to.Width(), d))
		})
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	if service.Can[service.Differ](p.Can) {
		cmd.Flags().BoolVar(&diff, "diff", false, "show what the run or the agent has changed")
	}
	return p.command(p.completes(cmd, EitherOf(RunsOf(true, AnyRun), AgentsOf, QuestionsOf)))
}
