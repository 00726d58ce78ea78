package main

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
)

func newCompare() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare RUN RUN",
		Short: "show side by side what came of a question answered differently",
		Long: `Show two runs side by side of which one continues from a question of the other,
or both from the same question (answer --again): what was answered, how each
stands, what it took, what it changed since the question, and its report.`,
		Example: "  claude-supervise compare r-3f9a2c1b r-8d0e4f7a",
		Args:    help.Exactly(2, 2, "the ids of two runs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			both, err := acting.Compare(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return terminal.Print(func(p *terminal.Printer) error {
				if asJSON {
					return p.JSON(both)
				}
				return p.Result(thisProgram.SideBySide(p.Width(), both))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.RunsOf(true, commands.AnyRun))
}
