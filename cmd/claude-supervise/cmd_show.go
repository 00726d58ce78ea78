package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Aliases: []string{"inspect"},
		Short:   "show a run, an agent or a question",
		Long: `Show all details of a run, an agent or a question. A run with several agents is
shown as a tree, with the total spent. An agent is shown with its origin, what
it has done and left behind, and the resources its processes use now.`,
		Example: "  claude-supervise show r-3f9a2c1b\n" +
			"  claude-supervise show a-7Qm2xK9fWb4T\n" +
			"  claude-supervise show q-7kq2mx --json",
		Args: help.Exactly(1, 1, "the id of a run, an agent or a question"),
		RunE: func(cmd *cobra.Command, args []string) error { return runShow(cmd.Context(), args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return completes(cmd, completeEither(completeRuns(true, anyRun), completeAgents, completeQuestions))
}

func runShow(ctx context.Context, id string, asJSON bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	d, err := r.Show(ctx, id)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		switch {
		case asJSON && d.Question != nil:
			return p.JSON(d.Question)
		case asJSON:
			return p.JSON(d)
		case d.Question != nil:
			return p.Result(questions.Whole(p.Columns(), *d.Question))
		}
		return p.Result(thisProgram.Show(p.Width(), d))
	})
}
