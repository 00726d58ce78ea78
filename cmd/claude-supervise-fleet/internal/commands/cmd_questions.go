package commands

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newQuestions() *cobra.Command {
	var c connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "questions",
		Short:   "list the open questions of all runs of the fleet",
		Long:    "List the open questions of all runs of the fleet, oldest first.",
		Example: "  claude-supervise fleet questions\n  claude-supervise fleet questions --json",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var open []view.QuestionView
			err := c.with(cmd.Context(), func(f connected) (err error) {
				open, err = f.Questions(cmd.Context())
				return err
			})
			if err != nil {
				return err
			}
			return terminal.Print(func(p *terminal.Printer) error { return questions.Print(p, open, asJSON) })
		},
	}
	c.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
