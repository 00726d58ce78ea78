package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
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
it), write to an agent (w), show what was changed (d), stop (s), resume (r),
retry what failed (R), start a run (n), delete the records of a run (p), open
its folder (o), copy an id (c), find words, in past runs and answered questions,
too (/; Esc shows all again), quit (q). A question that was answered is answered
differently in a new run (A); that is compared with the first (=), and kept (K).
? shows all keys. A mouse works, too.

Unsent text stays in its question, also when the board ends, which says it.
Answers go to the same inbox as everywhere else, and the first one counts. No
run depends on the board: when it ends, runs continue.

A merge uses your git settings, but no hooks. A merge with conflicts is undone.
A merge that would run a program chosen by the agent is refused.`,
		Example: "  claude-supervise board\n  ssh -t build.example.org claude-supervise board",
	}, func(context.Context) (board.Config, func(), error) {
		dirs, err := client.DefaultDirs()
		folder, gone := os.Getwd()
		if gone != nil {
			folder = "" // it is asked for
		}
		state, none := view.OpenExistingReader()
		if none == nil {
			_ = state.Close() // it was only looked whether it is there
		}
		return board.Config{Service: onBoard{here{acting}, view.Gone(none)}, Question: asking.Placed, Changes: true,
			Folder: folder, Drafts: terminal.Drafts{Folder: dirs.RunDir}, By: terminal.Who("board")}, func() {}, err
	})
}

// begin is what the program does without a command on a terminal: the board, if anything is open, else it says what to
// type.
func begin(cmd *cobra.Command) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	runs, err := r.Runs(cmd.Context(), false)
	if err != nil {
		return err
	}
	open, err := r.Questions(cmd.Context())
	if err != nil {
		return err
	}
	_, inside := doctor.InsideAgent(os.Environ())
	if kind := os.Getenv("TERM"); len(runs)+len(open) > 0 && kind != "" && kind != "dumb" && !inside {
		board := newBoard()
		board.SetContext(cmd.Context())
		return board.RunE(board, nil)
	}
	words := "Nothing is open. To begin:"
	if n := len(open); n > 0 {
		words = fmt.Sprintf("Open questions: %d (claude-supervise questions). To begin something else:", n)
	}
	return terminal.Print(func(p *terminal.Printer) error {
		return p.Result(words + `
  claude-supervise run "TASK"       start a task
  claude-supervise run --demo ask   try it without an API key or Claude Code
  claude-supervise doctor           check the setup
  claude-supervise --help           all commands`)
	})
}
