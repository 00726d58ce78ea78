package main

import (
	"errors"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
)

func newKeep() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "keep RUN",
		Short: "take over one of the runs of a question answered differently",
		Long: `Take over one of the runs of a question that was answered differently (answer
--again). All that it has changed since the question, committed or not, is
merged into the folder from which it was made: with what the folder has now, and
on the ground of what it had at the question. Nothing is committed there, and
its index, HEAD and branches stay as they are. Then those of the other runs that
have not ended are stopped.

If it does not fit, the files are named, nothing is changed, and nothing is
stopped. What git ignores is not taken over, and never overwritten. If keep
itself is killed, keep again completes it.

If RUN is the first run, whose work is in the folder already, the runs that
continue from its questions are stopped.`,
		Example: "  claude-supervise keep --dry-run r-8d0e4f7a\n  claude-supervise keep r-8d0e4f7a",
		Args:    help.Exactly(1, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			said, err := here{acting}.Keep(cmd.Context(), args[0], !dry)
			if said != "" {
				err = errors.Join(err, terminal.Print(func(p *terminal.Printer) error { return p.Result(said) }))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.Nothing)
}
