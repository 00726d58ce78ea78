package commands

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/internal/board"
)

func newBoard() *cobra.Command {
	c := new(connection)
	return c.program().Board(&cobra.Command{
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
	}, func(ctx context.Context) (board.Config, func(), error) {
		fleet, d, closed, err := c.atDesk(ctx)
		return board.Config{Service: resuming{d, fleet}, Question: desk.Placed}, closed, err
	})
}
