package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

func newKeep() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keep RUN",
		Short: "take over one of the runs of a question answered differently",
		Long: `Take over one of the runs of a question that was answered differently (answer
--again): its work is merged into the folder from which it was made, and those
of the others that have not ended are stopped. If the merge conflicts, it is
undone and nothing is stopped. git refuses to merge over changes in the folder
that are not committed: commit or stash them first.

If RUN is the first run, whose work is in the folder already, the runs that
continue from its questions are stopped.`,
		Example: "  claude-supervise keep r-8d0e4f7a",
		Args:    help.Exactly(1, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			said, err := keepRun(cmd.Context(), args[0])
			if said != "" {
				err = errors.Join(err, terminal.Print(func(p *terminal.Printer) error { return p.Result(said) }))
			}
			return err
		},
	}
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.Nothing)
}

// keepRun takes over a run, and stops the others that have answered the same question.
func keepRun(ctx context.Context, id string) (said string, err error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // nothing was written by it
	r, err := c.Reader().Run(ctx, id)
	if err != nil {
		return "", err
	}
	s, err := view.State(ctx, c.Store, r.ID)
	if err != nil {
		return "", err
	}
	others, known, err := rivals(ctx, c, s.Run)
	if err != nil {
		return "", err
	}
	if s.Run.Forked == nil && !known {
		return "", usage("no question of %s was answered differently; nothing was changed", r.ID)
	}
	all := []string{"The work of " + r.ID + " is in " + r.Cwd + " already."}
	if s.Run.Forked != nil {
		if all[0], err = mergeFork(ctx, s); err != nil {
			return "", err
		}
	}
	for _, other := range others {
		stopped, failed := here{acting}.End(ctx, other, false)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all = append(all, stopped.Text)
	}
	return strings.Join(all, "\n"), err
}

// mergeFork merges what a fork has left in its worktree.
func mergeFork(ctx context.Context, s supervisor.State) (string, error) {
	root := s.Agents[s.Run.Root]
	if s.Run.EndedAt == nil {
		return "", fmt.Errorf("%s has not ended (%s); nothing was changed. To wait for it: claude-supervise wait %[1]s",
			s.Run.ID, s.Run.Status)
	}
	if w := root.Worktree; w == nil || w.Path == "" && w.Commits == 0 {
		return s.Run.ID + " has changed nothing.", nil
	}
	return here{acting}.Merge(ctx, s.Run.ID, root.ID)
}

// rivals returns the runs that go on, and have answered the same question as a run, or one of its own; known: there are
// such, if only some that have ended.
func rivals(ctx context.Context, c client.Client, of *supervisor.Run) (ids []string, known bool, err error) {
	runs, err := c.Reader().Runs(ctx, true)
	for _, r := range runs {
		same := of.Forked != nil && (r.ID == of.Forked.Run ||
			r.Forked != nil && r.Forked.Run == of.Forked.Run && r.Forked.Question == of.Forked.Question)
		own := of.Forked == nil && r.Forked != nil && r.Forked.Run == of.ID
		if r.ID == of.ID || !same && !own {
			continue
		}
		if known = true; r.EndedAt == nil {
			ids = append(ids, r.ID)
		}
	}
	return ids, known, err
}
