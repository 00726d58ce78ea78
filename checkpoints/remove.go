package checkpoints

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// EndedRuns reads the runs that ended before a time, the one that ended first first.
func (s *Store) EndedRuns(ctx context.Context, before time.Time) ([]Run, error) {
	// Nothing ends before it has started, and for the start there is an index.
	runs, err := records[Run](ctx, s, "list the ended runs in", `SELECT doc FROM runs WHERE ended = 1 AND started < ?`,
		before.UnixNano())
	runs = slices.DeleteFunc(runs, func(r Run) bool { return r.EndedAt == nil || !r.EndedAt.Before(before) })
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(a.EndedAt.Compare(*b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	return runs, err
}

// Remove forgets an ended run: its records, history and notes, in one transaction. Its folder stays. The caller owns
// the run, or a resume could be going on with it. *UnknownError if there is none of this id; ErrNotEnded if it has not
// ended: a resume was faster. The file does not shrink: what comes next goes where the run was.
func (s *Store) Remove(ctx context.Context, run string) error {
	return s.write(ctx, "remove run "+run+" from", func(ctx context.Context) error {
		var ended bool
		err := s.row(ctx, `SELECT ended FROM runs WHERE id = ?`, []any{run}, &ended)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return &UnknownError{ID: run}
		case err != nil:
			return err
		case !ended:
			return fmt.Errorf("remove run %s: %w", run, ErrNotEnded)
		}
		return s.forget(ctx, run)
	})
}

// forget deletes all that there is of a run, within a transaction.
func (s *Store) forget(ctx context.Context, run string) error {
	for _, statement := range []string{
		`DELETE FROM runs WHERE id = ?`,
		`DELETE FROM agents WHERE run = ?`,
		`DELETE FROM launches WHERE run = ?`,
		`DELETE FROM questions WHERE run = ?`,
		`DELETE FROM deliveries WHERE run = ?`,
		`DELETE FROM events WHERE run = ?`,
		`DELETE FROM inbox WHERE run = ?`,
	} {
		if err := s.exec(ctx, statement, run); err != nil {
			return err
		}
	}
	return nil
}
