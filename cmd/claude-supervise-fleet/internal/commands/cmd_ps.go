package commands

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
)

func newPs() *cobra.Command {
	var c connection
	var all, asJSON, ids bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "list the runs of the fleet",
		Long: "List the runs of the fleet, oldest first, with the worker that has each.\n" +
			"Below a run: why it waits, and the last thing that befell it.",
		Example: "  claude-supervise fleet ps\n  claude-supervise fleet ps -a --json",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var found []flow.Listed
			err := c.with(cmd.Context(), func(f connected) (err error) {
				found, err = f.Runs(cmd.Context(), all, false)
				slices.Reverse(found)
				return err
			})
			if err != nil {
				return err
			}
			return terminal.Print(func(p *terminal.Printer) error {
				switch {
				case asJSON:
					return p.JSON(found)
				case ids:
					for _, r := range found {
						if err := p.Result(r.ID); err != nil {
							return err
						}
					}
					return nil
				case len(found) == 0:
					return p.Result(runs.Listing{Program: fleetProgram, All: all}.None())
				}
				return p.Result(runTable(p.Width(), found, time.Now()))
			})
		},
	}
	c.flags(cmd.Flags())
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also list runs that have ended")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVarP(&ids, "ids", "q", false, "print only the ids, one per line")
	return cmd
}

// runTable lists runs: each with why it stands as it does below it.
func runTable(width int, runs []flow.Listed, now time.Time) string {
	header := []string{"RUN", "STATUS", "SINCE", "ASKS", "COST", "WORKER", "NAME"}
	rows := make([]terminal.TreeRow, len(runs))
	for i, r := range runs {
		rows[i] = terminal.TreeRow{Cells: []string{r.ID, string(r.Status), terminal.Ago(r.Since, now),
			strconv.Itoa(len(r.OpenQuestions)), terminal.Money(r.CostUSD), terminal.CleanLine(r.Worker, 0),
			terminal.CleanLine(r.Name, 0)}, Below: terminal.CleanLine(r.Why(), 0)}
	}
	return terminal.Tree(width, len(header), header, rows)
}
