package commands

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Questions makes the command that lists open questions.
func (p Program) Questions(cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	cmd.Args = help.Exactly(0, 0, "no arguments")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var open []view.QuestionView
		var notes []string
		err := p.with(cmd.Context(), func(s service.Runs) (err error) {
			open, notes, err = s.Questions(cmd.Context())
			return err
		})
		if err != nil {
			return err
		}
		if run, inside := doctor.InsideRun(os.Environ()); inside && p.local() {
			open = slices.DeleteFunc(open, func(q view.QuestionView) bool { return q.Run != run })
		}
		return terminal.Print(func(to *terminal.Printer) error {
			for _, note := range notes {
				to.Notice(note)
			}
			return asking.Print(to, open, asJSON)
		})
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return p.command(cmd)
}
