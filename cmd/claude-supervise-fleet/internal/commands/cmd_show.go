package commands

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// fleetProgram is how a person calls this program.
const fleetProgram = runs.Program(desk.Program)

func newShow() *cobra.Command {
	var c connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "show a run of the fleet",
		Long: `Show a run of the fleet, with its agents, questions and reports, as it was when
a worker last parked it, ended it or handed it back. ps shows how it is now.`,
		Example: "  claude-supervise fleet show r-3f9a2c1b",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := c.record(cmd, args, worker.ShowRecord)
			if err != nil {
				return err
			}
			var d view.Details
			if err := json.Unmarshal(content, &d); err != nil {
				return fmt.Errorf("what was kept of the run cannot be read: %w", err)
			}
			return terminal.Print(func(p *terminal.Printer) error {
				if asJSON {
					return p.JSON(d)
				}
				return p.Result(fleetProgram.Show(p.Width(), d))
			})
		},
	}
	c.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// record reads what was kept of the run that is named.
func (c connection) record(cmd *cobra.Command, args []string, r worker.Record) ([]byte, error) {
	if len(args) != 1 {
		return nil, help.Takes(cmd, "the id of a run")
	}
	ctx := cmd.Context()
	var out bytes.Buffer
	err := c.with(ctx, func(f connected) error {
		run, err := f.Run(ctx, args[0])
		if err != nil {
			return err
		}
		store, err := f.snapshots(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = store.Bucket.Close() }() // only read
		_, err = store.Record(ctx, run.ID, run.Epoch, r, &out)
		return err
	})
	return out.Bytes(), err
}
