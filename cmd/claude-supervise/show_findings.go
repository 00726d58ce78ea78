package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/supervisor/findings"
	"claude-supervise/supervisor/view"
)

// showsFindings adds to show the flag that prints what agents have shared while their run goes on.
func showsFindings(cmd *cobra.Command) *cobra.Command {
	var shared bool
	cmd.Flags().BoolVar(&shared, "findings", false, "print what its agents have shared so far, as JSON")
	show := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !shared {
			return show(cmd, args)
		}
		r, err := view.OpenReader()
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }() // only read
		id, err := thisMachine.Chosen(cmd, args, commands.Choice{Takes: "the id of a run", Fits: commands.AnyRun,
			None: "there is no run whose agents could share", Reads: true})
		if err != nil {
			return err
		}
		d, err := r.Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		if d.Question != nil {
			return usage("%s is a question; name its run instead", d.Question.ID)
		}
		agents := map[string]bool{}
		for _, a := range d.Run.Agents {
			agents[a.ID] = true
		}
		if err := findings.Print(findings.SharedFolder(r.Dirs, d.Run.ID), agents, os.Stdout); err != nil {
			return fmt.Errorf("print the findings of %s: %w", d.Run.ID, err)
		}
		return nil
	}
	return cmd
}
