package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

func newBoard() *cobra.Command {
	return thisMachine.Board(&cobra.Command{
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
question, also when the board ends, which says it. Answers go to the same inbox
as everywhere else, and the first one counts. No run depends on the board: when
it ends, runs continue.

A merge uses your git settings, but no hooks. A merge with conflicts is undone.
A merge that would run a program chosen by the agent is refused.`,
		Example: "  claude-supervise board\n  ssh -t build.example.org claude-supervise board",
	}, func(context.Context) (board.Config, func(), error) {
		dirs, err := client.DefaultDirs()
		return board.Config{Service: here{acting}, Question: asking.Placed, Changes: true,
			Drafts: terminal.Drafts{Folder: dirs.RunDir}, By: terminal.Who("board")}, func() {}, err
	})
}

// tellWaiting says, on a terminal, that questions wait.
func tellWaiting(ctx context.Context) error {
	if !terminal.Attended() {
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
	waits := text.Plural(len(open), "question waits", "questions wait")
	return terminal.Print(func(p *terminal.Printer) error { return p.Result("\n" + waits + ": claude-supervise board") })
}
