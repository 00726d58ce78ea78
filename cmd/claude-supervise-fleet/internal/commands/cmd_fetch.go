package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
)

func newFetch() *cobra.Command {
	var c connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fetch RUN DIR",
		Short: "put what a run of the fleet has written into a folder",
		Long: `Put the files of a run of the fleet into DIR, as its last snapshot has them.
What the agents of a run without --repo have written is nowhere else. DIR has to
be empty or missing. For a run with --repo it is a clone of that repository
without local changes, to which the commits and files of the run are added.

Of a run that goes on, it is what it had written when the last turn ended. A run
that the server has forgotten can be fetched by its id, until fleet prune.`,
		Example: "  claude-supervise fleet fetch r-3f9a2c1b result\n" +
			"  git clone https://git.example.com/shop.git shop &&\n" +
			"    claude-supervise fleet fetch r-3f9a2c1b shop",
		Args: help.Exactly(2, 2, "a run and a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			return c.with(cmd.Context(), func(c connected) error { return c.fetch(cmd.Context(), args[0], args[1], asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.flags(cmd.Flags())
	return cmd
}

// fetch puts the files of a run into a folder, and says of which moment they are.
func (c connected) fetch(ctx context.Context, id, dir string, asJSON bool) error {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	r, err := c.Run(ctx, id)
	var none *fleet.NoRunError
	forgotten := errors.As(err, &none) && flow.IsRun(id)
	switch {
	case forgotten:
		r.ID = id
	case err != nil:
		return err
	}
	store, err := c.snapshots(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Bucket.Close() }() // only read
	f, err := store.Fetch(ctx, r.ID, folder)
	switch {
	case errors.Is(err, worker.ErrNoSnapshot) && forgotten:
		return none
	case err != nil:
		return fmt.Errorf("%s cannot be fetched: %w", r.ID, err)
	}
	return terminal.Print(func(p *terminal.Printer) error {
		for _, t := range f.Told {
			p.Notice(t)
		}
		if asJSON {
			return p.JSON(fetchedJSON{ID: r.ID, Folder: folder, Epoch: f.Epoch, At: f.At,
				InTurn: append([]string{}, f.InTurn...), Ended: forgotten || r.EndedAt != nil})
		}
		return p.Result(fetchedWords(r, forgotten, folder, f))
	})
}

// A fetchedJSON is what fetch has put into a folder, for programs.
type fetchedJSON struct {
	ID     string    `json:"id"`
	Folder string    `json:"folder"`
	Epoch  int       `json:"epoch"`
	At     time.Time `json:"at"`
	InTurn []string  `json:"in_turn"` // agents whose last turns it lacks
	Ended  bool      `json:"ended"`   // the run has
}

func fetchedWords(r flow.Listed, forgotten bool, folder string, f worker.Fetched) string {
	words := fmt.Sprintf("The files of %s are in %s, as of %s.", r.ID, terminal.CleanLine(folder, 0), terminal.When(f.At))
	if len(f.InTurn) > 0 {
		words += fmt.Sprintf("\nThey lack what %s wrote in a turn that was under way then.",
			text.Plural(len(f.InTurn), "agent", "agents"))
	}
	switch {
	case forgotten:
		words += "\nThe server has forgotten the run."
	case r.EndedAt == nil:
		words += "\nIt has not ended: " + string(r.Status) + "."
	}
	if s := r.Snapshot; s != nil && s.Problem != "" {
		words += "\nWhat came after that is in no snapshot: " + terminal.CleanLine(s.Problem, 0)
	}
	return words
}
