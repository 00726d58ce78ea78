package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
)

func newPrune() *cobra.Command {
	var c connection
	var olderThan string
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove the snapshots of runs that the server has forgotten",
		Long: `Remove from the blob store what it has of runs that have ended, and that the
server has forgotten: its namespaces keep ended runs for their retention. They
cannot be resumed any more; fetch gets their files until then. What a workflow
of any namespace of the server still knows is never removed, nor what was put
there within --older-than.

Another server knows nothing of that: if runs of several servers share a store,
do not prune it.`,
		Example: "  claude-supervise fleet prune --dry-run\n  claude-supervise fleet prune --older-than 7d",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(); err != nil {
				return err
			}
			age, err := commands.Days(olderThan)
			if err != nil {
				return exitcode.Usage("--older-than takes a duration such as 12h or 7d, not %q", olderThan)
			}
			return c.with(cmd.Context(), func(c connected) error {
				return c.pruneAndTell(cmd.Context(), time.Now().Add(-age), dry, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&olderThan, "older-than", "30d", "keep what was put there within `DURATION`")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be removed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.flags(cmd.Flags())
	return cmd
}

// A prunedRun is one that was removed from the blob store, for programs.
type prunedRun struct {
	ID    string    `json:"id"`
	Bytes int64     `json:"bytes"`
	Last  time.Time `json:"last"` // when something of it was put there last
}

// prune removes what the blob store has of runs that the server has forgotten, if all was put there before a time.
// It returns what was removed, also with an error; dry: what would be.
func (c connected) prune(ctx context.Context, store worker.Store, before time.Time, dry bool) (all []prunedRun,
	err error) {
	stored, err := store.Stored(ctx)
	if err != nil {
		return nil, err
	}
	namespaces, err := c.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Sorted(maps.Keys(stored)) {
		of := stored[run]
		if !of.Last.Before(before) {
			continue
		}
		known, err := c.Knows(ctx, namespaces, run)
		if err != nil {
			return all, fmt.Errorf("whether %s is known cannot be seen: %w", run, err)
		}
		if known {
			continue
		}
		if !dry {
			if err := store.Remove(ctx, of); err != nil {
				return all, err
			}
		}
		all = append(all, prunedRun{ID: run, Bytes: of.Bytes, Last: of.Last})
	}
	return all, nil
}

func (c connected) pruneAndTell(ctx context.Context, before time.Time, dry, asJSON bool) error {
	store, err := c.snapshots(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Bucket.Close() }() // each removal is done when it returns
	pruned, err := c.prune(ctx, store, before, dry)
	if err != nil {
		err = fmt.Errorf("%w; of the other runs nothing was removed", err)
	}
	return errors.Join(terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(append([]prunedRun{}, pruned...))
		}
		if len(pruned) == 0 && err == nil {
			return p.Result("There is nothing to remove.")
		}
		done := "removed"
		if dry {
			done = "would be removed"
		}
		for _, r := range pruned {
			words := fmt.Sprintf("%s %s: %.1f kB, the last of %s", r.ID, done, float64(r.Bytes)/1e3, terminal.When(r.Last))
			if err := p.Result(words); err != nil {
				return err
			}
		}
		return nil
	}), err)
}
