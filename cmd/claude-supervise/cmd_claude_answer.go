package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/install"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// calledAsAnswer reports whether this program was called by its other name, as the link that init makes has it. A
// supervisor in the background is never that, whatever the file is called that it was started from.
func calledAsAnswer(name string) bool {
	return filepath.Base(name) == install.AnswerName && !request.InBackground()
}

// newClaudeAnswer is the program under its other name: the hybrid document's "Quick Response Helper Script".
func newClaudeAnswer() *cobra.Command {
	cmd := newAnswer()
	cmd.Use = install.AnswerName + " [ID] [VALUE...]"
	cmd.Short = "list or answer open questions"
	cmd.Long = `Ask all open questions in turn on the terminal: those of runs, and those that
scripts ask by file. Without a terminal, list them. With arguments, act as
claude-supervise answer.`
	cmd.Example = "  claude-answer\n  claude-answer q-7kq2mx 2\n  claude-answer workflow_1729350000_q1 oauth"
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.CompletionOptions.DisableDefaultCmd = true
	answer := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 || cmd.Flags().NFlag() > 0 {
			return answer(cmd, args)
		}
		if err := notInside(cmd); err != nil {
			return err
		}
		return runClaudeAnswer(cmd)
	}
	return cmd
}

func runClaudeAnswer(cmd *cobra.Command) error {
	if terminal.Attended() {
		return runAnswer(cmd, nil, asking.Flags{})
	}
	ctx := cmd.Context()
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	open, err := view.OpenQuestions(ctx, client.Store)
	if err != nil {
		return err
	}
	asked, problems, fileErr := client.Reader().OfNoRun(ctx, nil)
	return terminal.Print(func(p *terminal.Printer) error {
		asking.TellFileProblems(p, problems, fileErr)
		for i, q := range open {
			asked = slices.Insert(asked, i, client.Reader().View(q))
		}
		return listQuestions(p, asked)
	})
}

// listQuestions shows what is open, and how to answer it.
func listQuestions(p *terminal.Printer, open []view.QuestionView) error {
	if len(open) == 0 {
		return p.Result("No question is open.")
	}
	if err := p.Result("=== Pending Questions ==="); err != nil {
		return err
	}
	for _, q := range open {
		asked := asking.Shown(q)
		asked.Command = strings.Replace(asked.Command, "claude-supervise answer", install.AnswerName, 1)
		if err := p.Result("\n" + terminal.Render(asked, p.Columns(), time.Now())); err != nil {
			return err
		}
	}
	return p.Result("\nAnswer one with: " + install.AnswerName + " ID VALUE")
}
