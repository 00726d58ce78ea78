package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func newQuestions() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "questions",
		Short: "list open questions",
		Long: `List the open questions of all runs, and those of scripts in
~/.claude/questions/pending. Each is shown with the command that answers it.
Inside an agent, only the questions of its own run are listed.`,
		Example: "  claude-supervise questions\n  claude-supervise questions --json",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runQuestions(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runQuestions(ctx context.Context, asJSON bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	open, err := r.Questions(ctx)
	if err != nil {
		return err
	}
	byFile, problems, err := r.FileQuestions(ctx)
	for _, q := range byFile {
		open = append(open, view.View(q))
	}
	if run, inside := doctor.InsideRun(os.Environ()); inside {
		open = slices.DeleteFunc(open, func(q view.QuestionView) bool { return q.Run != run })
	}
	return terminal.Print(func(p *terminal.Printer) error {
		questions.TellFileProblems(p, problems, err)
		return questions.Print(p, open, asJSON)
	})
}
