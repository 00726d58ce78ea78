package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newBoard() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "board",
		Short: "watch runs and answer questions in a full-screen view",
		Long: `Watch all runs and open questions in a live full-screen view. It lists the
questions, urgent ones first, and the tree of runs with status, start, cost,
what each waits for, and folder. Tab shows details of the selected entry: the
question, the growing log, the report, and the worktrees, which can be merged or
dropped.

Keys: answer (a, Enter; < goes back and changes an answer until the agent has
it), write to an agent (w), stop (s), resume (r), retry what failed (R), delete
the records of a run (p), open its folder (o), copy an id (c), filter by words
(/), quit (q). ? shows all keys. A mouse works, too. Unsent text stays in its
question. Answers go to the same inbox as everywhere else, and the first one
counts. No run depends on the board: when it ends, runs continue.

A merge uses your git settings, but no hooks. A merge with conflicts is undone.
A merge that would run a program chosen by the agent is refused.`,
		Example: "  claude-supervise board\n  ssh -t build.example.org claude-supervise board",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runBoard(cmd.Context())
		},
	}
	return completes(cmd, completeNothing)
}

func runBoard(ctx context.Context) error {
	screen := terminal.NewFullScreen(os.Stdin, os.Stdout, os.Getenv)
	if screen == nil {
		return usage("the board needs a terminal that can be drawn on; elsewhere: `claude-supervise ps --tree`, " +
			"`claude-supervise questions`")
	}
	ctx, stop, err := terminal.UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var a boardActions
	return board.Run(ctx, screen, board.Config{
		Program: string(thisProgram), Source: board.State{}, Question: questions.Placed, Home: terminal.FromHome,
		About: thisProgram.Show, Colours: os.Getenv("NO_COLOR") == "", Changes: true,
		Actions: board.Actions{Answer: a.Answer, Say: a.Say, Stop: a.Stop, Resume: a.Resume, Retry: a.Retry,
			Prune: a.Prune, Open: a.Open, Merge: a.Merge, Drop: a.Drop},
	})
}

// tellWaiting says, on a terminal, that questions wait.
func tellWaiting(ctx context.Context) error {
	if !onTerminal() {
		return nil
	}
	r, err := view.OpenReader()
	if err != nil {
		return nil //nolint:nilerr // the help is all that was asked for
	}
	defer func() { _ = r.Close() }() // only read
	open, err := r.Questions(ctx)
	if err != nil || len(open) == 0 {
		return nil //nolint:nilerr // as above
	}
	waits := "1 question waits"
	if n := len(open); n > 1 {
		waits = fmt.Sprintf("%d questions wait", n)
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.Result("\n" + waits + ": claude-supervise board") })
}
