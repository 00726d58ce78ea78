package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/cmd/internal/terminal"
)

func newDecisions() *cobra.Command {
	var f reportFlags
	var asJSON, lines bool
	cmd := &cobra.Command{
		Use:   "decisions",
		Short: "write down who decided what, when and why, in all runs",
		Long: `Write down what was decided in all runs: each question with its answer and the
words beside it, who gave it and when, and what came of the run; and what was
answered here of your ordinary sessions. FILE.html is a self-contained page;
FILE.md and stdout are Markdown. --lines writes only what people told agents, a
line each, to be put into a CLAUDE.md: read them first, for the questions are
the agents' words.`,
		Example: "  claude-supervise decisions --since 30d --cwd . -o decisions.md\n" +
			"  claude-supervise decisions --cwd . --lines >> CLAUDE.md\n" +
			"  claude-supervise decisions --json | jq '.[] | .question + \": \" + .answer'",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && lines || f.output != "" && (asJSON || lines) {
				return usage("--json, --lines and -o are three forms: choose one")
			}
			if err := f.checkOutput(); err != nil {
				return err
			}
			if err := notInside(cmd); err != nil {
				return err
			}
			return runDecisions(cmd.Context(), f, asJSON, lines)
		},
	}
	f.add(cmd, "only decisions since a `TIME`, or within a duration", "only runs in or below `DIR`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&lines, "lines", false, "print lines for a CLAUDE.md")
	return commands.Completes(cmd, commands.Nothing, commands.Nothing)
}

func runDecisions(ctx context.Context, f reportFlags, asJSON, lines bool) error {
	switch {
	case lines:
		return f.writeRecord(ctx, report.RecordLines)
	case !asJSON:
		return f.writeRecord(ctx, f.recordForm())
	}
	record, err := f.record(ctx)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.JSON(record.Decided()) })
}
