package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newBoard() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "board",
		Short: "watch runs and answer questions in a full-screen view",
		Long: `Show what is asked and all runs on a full screen, live: the questions, urgent
ones first, the tree of runs with status, since when, cost, what they wait for
and folder. Of what the cursor is on there is the question, the log as it grows,
the report and the worktrees, with merge and drop (Tab).

Answer there (a, Enter; < goes back and changes an answer until the agent has
it), write to an agent (w), stop (s), resume (r), try again what has failed (R),
forget a run (p), open its folder (o), copy an id (c), and show only what has
some words (/). ? shows all keys; a mouse works, too. Words that you leave
unsent stay in their question. Answers go into the same inbox as everywhere: the
first one stands. The board is only for looking: no run needs it, and when it
ends (q) runs go on.

A merge is made with your git settings, but without hooks; one that conflicts is
taken back. What would run a program that the agent has chosen is refused.`,
		Example: "  claude-supervise board\n  ssh -t build.example.org claude-supervise board",
		Args:    exactly(0, 0, "no arguments"),
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
	ctx, stop, err := untilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	return board.Run(ctx, screen, board.Config{
		Source: board.State{}, Actions: boardActions{}, Question: placedView, Home: fromHome,
		About: showRun, Colours: os.Getenv("NO_COLOR") == "",
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
	return print(func(p *terminal.Printer) error { return p.Result("\n" + waits + ": claude-supervise board") })
}
