package commands

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Show makes the command that shows a run, an agent or a question.
func (p Program) Show(cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	cmd.Args = help.Exactly(1, 1, p.takes("the id of a run", ", an agent or a question"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var d view.Details
		err := p.with(cmd.Context(), func(s service.Runs) (err error) {
			d, err = s.Show(cmd.Context(), args[0])
			return err
		})
		if err != nil {
			return err
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
	return p.command(p.completes(cmd, EitherOf(RunsOf(true, AnyRun), AgentsOf, QuestionsOf)))
}
