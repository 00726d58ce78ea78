package commands

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

// Board makes the command that shows runs and questions full-screen. open gives what is shown; closed lets it go.
func (p Program) Board(cmd *cobra.Command,
	open func(context.Context) (c board.Config, closed func(), err error)) *cobra.Command {
	cmd.Args = help.Exactly(0, 0, "no arguments")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := p.NotInside(cmd); err != nil {
			return err
		}
		screen := terminal.NewFullScreen(os.Stdin, os.Stdout, os.Getenv)
		if screen == nil {
			return exitcode.Usage("the board needs a terminal that can be drawn on; elsewhere: `%s ps%s`, `%[1]s questions`",
				p.Name, p.takes("", " --tree"))
		}
		c, closed, err := open(cmd.Context())
		if err != nil {
			return err
		}
		defer closed()
		ctx, stop, err := terminal.UntilLeft(cmd.Context())
		if err != nil {
			return err
		}
		defer stop()
		c.Program, c.About, c.Asked, c.Home = string(p.Name), p.Name.Show, asking.Whole, terminal.FromHome
		c.Compared, c.Meanwhile = p.Name.SideBySide, report.MeanwhileText
		c.Colours, c.Away = os.Getenv("NO_COLOR") == "", runs.Away
		if from, can := c.Service.(service.Reminder); can {
			c.Reminds = asking.Reminds(from)
		}
		return board.Run(ctx, screen, c)
	}
	return p.command(p.completes(cmd, Nothing))
}
