package checkpoints

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Import puts a run into the database, whole or not at all. What it is given may come from anywhere, and is checked
// before anything is written (ErrMalformed); how large it may be is the caller's to bound. ErrNewer if a newer release
// exported it.
//
// ErrDuplicateID means that this database knows the run already, or one of its agents or questions. A run that was
// packed here is replaced by what has become of it since: its history here may be longer by the one event that says it
// was packed, and its inbox must not hold more. The caller owns the run.
//
// What names things of one machine is left out of the run's record: the process, the wake-up socket and the pack file.
// Notes get new Seqs; those that were taken stay so, and the others wait.
func (s *Store) Import(ctx context.Context, e Exported) error { return s.importRun(ctx, e, false) }

// ImportNewer is Import for what is known to have become of a run since, elsewhere: the one here is replaced, whatever
// has happened to it.
func (s *Store) ImportNewer(ctx context.Context, e Exported) error { return s.importRun(ctx, e, true) }

func (s *Store) importRun(ctx context.Context, e Exported, newer bool) error {
	id := e.Run.ID
	if err := e.Check(); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	run := e.Run
	run.PID, run.Waker, run.Packed = 0, "", ""
	c := Change{Run: &run, Agents: e.Agents, Launches: e.Launches, Questions: e.Questions, Deliveries: e.Deliveries}
	rows, err := c.rows()
	if err != nil {
		return fmt.Errorf("import run %s: %w: %w", id, ErrMalformed, err)
	}
	return s.write(ctx, "import run "+id+" into", func(ctx context.Context) error {
		if err := s.makeWay(ctx, &e, newer); err != nil {
			return err
		}
		if err := s.put(ctx, id, rows, e.Events); err != nil {
			return err
		}
		return s.importNotes(ctx, &e)
	})
}

// makeWay removes the run if it was packed here and has gone on elsewhere, and refuses one that is known otherwise.
func (s *Store) makeWay(ctx context.Context, e *Exported, newer bool) error {
	var doc []byte
	var events, notes int
	const query = `SELECT doc, (SELECT count(*) FROM events WHERE run = r.id),
		(SELECT count(*) FROM inbox WHERE run = r.id)
		FROM runs r WHERE id = ?`
	err := s.row(ctx, query, []any{e.Run.ID}, &doc, &events, &notes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var here Run
	if err := s.decode(doc, &here); err != nil {
		return err
	}
	switch {
	case newer:
	case here.Packed == "":
		return fmt.Errorf("import run %s: %w: it is here and was not packed", e.Run.ID, ErrDuplicateID)
	case events > len(e.Events)+1:
		return fmt.Errorf("import run %s: %w: its history here is longer (%d events, not %d)",
			e.Run.ID, ErrDuplicateID, events, len(e.Events))
	case notes > len(e.Notes):
		return fmt.Errorf("import run %s: %w: its inbox here has notes that are not in the pack (%d, not %d)",
			e.Run.ID, ErrDuplicateID, notes, len(e.Notes))
	}
	return s.forget(ctx, e.Run.ID)
}

func (s *Store) importNotes(ctx context.Context, e *Exported) error {
	var taken int64
	for _, n := range e.Notes {
		was := n.Seq
		if err := s.insert(ctx, &n); err != nil {
			return duplicate(e.Run.ID, err)
		}
		if was <= e.Taken {
			taken = n.Seq
		}
	}
	return s.exec(ctx, `UPDATE runs SET taken = ? WHERE id = ?`, taken, e.Run.ID)
}
