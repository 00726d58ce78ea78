package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
)

// calledAsAnswer reports whether this program was called by its other name, as the link that init makes has it. A
// supervisor in the background is never that, whatever the file is called that it was started from.
func calledAsAnswer(name string) bool { return filepath.Base(name) == answerName && !inBackground() }

// newClaudeAnswer is the program under its other name: the hybrid document's "Quick Response Helper Script".
func newClaudeAnswer() *cobra.Command {
	cmd := newAnswer()
	cmd.Use = answerName + " [ID] [VALUE...]"
	cmd.Short = "list what is asked, and answer it"
	cmd.Long = `List the open questions, of all runs and of scripts that ask by file, and answer
one: its ID and the answer are asked for. With arguments this is
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
		return runClaudeAnswer(cmd.Context())
	}
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

func runClaudeAnswer(ctx context.Context) error {
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	open, err := client.Questions(ctx)
	if err != nil {
		return err
	}
	byFile, problems, fileErr := client.FileQuestions(ctx)
	open = append(open, byFile...)
	asks := onTerminal() && len(open) > 0
	if err := print(func(p *terminal.Printer) error {
		tellFileProblems(p, problems, fileErr)
		return listQuestions(p, open, asks)
	}); err != nil || !asks {
		return err
	}

	var q *supervisor.Question
	for q == nil {
		typed, err := typedAt("\nQuestion ID to answer: ")
		if err != nil {
			return err
		}
		if q, err = amongOpen(open, typed); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	cwd, err := folderOf(ctx, client, q)
	if err != nil {
		return err
	}
	for {
		typed, err := typedAt("Your answer: ")
		if err != nil {
			return err
		}
		value, err := terminal.Choose(shown(q), typed, cwd)
		if err != nil {
			fmt.Fprintln(os.Stderr, terminal.Clean(err.Error()))
			continue
		}
		return leave(ctx, client, q, value, answerFlags{})
	}
}

// listQuestions shows what is open. Where nobody can be asked for an answer, it says how to give one.
func listQuestions(p *terminal.Printer, open []*supervisor.Question, asks bool) error {
	if len(open) == 0 {
		return p.Result("No question is open.")
	}
	if err := p.Result("=== Pending Questions ==="); err != nil {
		return err
	}
	for _, q := range open {
		view := shown(q)
		view.Command = strings.Replace(view.Command, "claude-supervise answer", answerName, 1)
		if asks {
			view.Command = ""
		}
		if err := p.Result("\n" + terminal.Render(view, p.Columns(), time.Now())); err != nil {
			return err
		}
	}
	if asks {
		return nil
	}
	return p.Result("\nAnswer one with: " + answerName + " ID VALUE")
}

// typedAt asks for one line.
func typedAt(prompt string) (string, error) {
	line, err := terminal.AskLine(os.Stdin, os.Stderr, "", prompt)
	if err != nil {
		fmt.Fprintln(os.Stderr)
		if errors.Is(err, io.EOF) {
			return "", errors.New("nothing was typed; all questions stay open")
		}
		return "", fmt.Errorf("%w; all questions stay open", err)
	}
	return line, nil
}

// amongOpen finds the question whose id was typed, or the start of it. Where only one is open, nothing need be typed.
func amongOpen(open []*supervisor.Question, typed string) (*supervisor.Question, error) {
	if typed == "" && len(open) == 1 {
		return open[0], nil
	}
	var meant []*supervisor.Question
	for _, q := range open {
		if q.ID == typed {
			return q, nil
		}
		if typed != "" && (strings.HasPrefix(q.ID, typed) || strings.HasPrefix(q.ID, "q-"+typed)) {
			meant = append(meant, q)
		}
	}
	if len(meant) == 1 {
		return meant[0], nil
	}
	ids := make([]string, 0, len(open))
	for _, q := range open {
		if len(meant) == 0 || slices.Contains(meant, q) {
			ids = append(ids, q.ID)
		}
	}
	return nil, fmt.Errorf("type one of: %s", terminal.CleanLine(strings.Join(ids, ", "), 400))
}
