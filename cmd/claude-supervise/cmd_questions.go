package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newQuestions() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "questions",
		Short:   "list the open questions, with the command that answers each",
		Example: "  claude-supervise questions\n  claude-supervise questions --json",
		Args:    exactly(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runQuestions(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runQuestions(ctx context.Context, asJSON bool) error {
	r, err := supervisor.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	open, err := r.Questions(ctx)
	if err != nil {
		return err
	}
	return print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(open)
		}
		if len(open) == 0 {
			return p.Result("No question is open.")
		}
		for i, q := range open {
			text := terminal.Render(shownView(q), p.Columns(), time.Now())
			if i > 0 {
				text = "\n" + text
			}
			if err := p.Result(text); err != nil {
				return err
			}
		}
		return nil
	})
}

// shownView is a question as the terminal shows it.
func shownView(q supervisor.QuestionView) terminal.Question {
	t := terminal.Question{
		ID: q.ID, Kind: string(q.Kind), Header: q.Header, Text: q.Question, Context: q.Context, Agent: q.Agent, Run: q.Run,
		MultiSelect: q.MultiSelect, Validate: q.Validate, AskedAt: q.AskedAt, Command: q.AnswerCommand, Of: 1,
	}
	for _, o := range q.Options {
		t.Options = append(t.Options, terminal.Option(o))
	}
	return t
}
