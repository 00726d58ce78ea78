package commands

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newBoard() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "board",
		Short: "watch runs of the fleet and answer questions, full-screen",
		Long: `Watch all runs and open questions of the fleet in the full-screen view of
claude-supervise board. It lists the questions, urgent ones first, and the tree
of runs with status, start, cost, what each waits for, and worker. Tab shows
details of the selected entry: the question, the log, the report.

Keys: answer (a, Enter), stop a run (s), resume (r), retry what failed (R), copy
an id (c), filter by words (/), quit (q). ? shows all keys. A mouse works, too.
Unsent text stays in its question. The first answer counts, wherever it is
given. No run depends on the board: when it ends, runs continue.`,
		Example: "  claude-supervise fleet board",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(); err != nil {
				return err
			}
			return runBoard(cmd.Context(), c)
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func runBoard(ctx context.Context, c connection) error {
	screen := terminal.NewFullScreen(os.Stdin, os.Stdout, os.Getenv)
	if screen == nil {
		return exitcode.Usage("the board needs a terminal that can be drawn on; elsewhere: `%[1]s ps`, `%[1]s questions`",
			fleetProgram)
	}
	return c.atDesk(ctx, func(fleet connected, d *desk.Desk) error {
		ctx, stop, err := terminal.UntilLeft(ctx)
		if err != nil {
			return err
		}
		defer stop()
		return board.Run(ctx, screen, board.Config{
			Program: desk.Program, Source: d, Home: terminal.FromHome, About: fleetProgram.Show,
			Colours:  os.Getenv("NO_COLOR") == "",
			Question: func(q view.QuestionView) terminal.Question { return questions.Placed(desk.Asked(q)) },
			Actions:  board.Actions{Answer: d.Answer, Stop: d.StopRun, Resume: fleet.resumes, Retry: fleet.retries},
		})
	})
}
