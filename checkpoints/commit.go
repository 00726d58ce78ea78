package checkpoints

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Change is what one event changed in one run: Event.Run, or Run.ID where there is no event. Parts that are nil or
// empty are left alone; records are replaced whole.
type Change struct {
	Run        *Run
	Agents     []*Agent
	Launches   []*Launch
	Questions  []*Question
	Deliveries []*Delivery
	Earlier    []Event // that happened before Event and are saved with it
	Event      Event   // Seq 0: no event; Run may still say which run this is
	Taken      int64   // inbox rows of the run up to and including this Seq are taken; less than before changes nothing

	// With CheckInbox the change is refused (ErrInboxMoved) if the run's inbox holds an untaken note with a Seq over
	// IfInboxAt. So a delivery can begin only with the answer as it stands at that instant.
	CheckInbox bool
	IfInboxAt  int64

	// Lazy: Commit does not wait for the disk. A power cut may undo the change, and then all that came after it; never
	// one that came before another that was waited for. The end of a process undoes nothing.
	Lazy bool

	// Last: Commit moves the log into the file, too, as closing the store would do next. The disk is waited for twice
	// in both together, not three times.
	Last bool
}

func (c *Change) run() string {
	if c.Event.Run == "" && c.Run != nil {
		return c.Run.ID
	}
	return c.Event.Run
}

// Commit saves a change in one transaction. When it returns nil the change is on the disk, unless it is Lazy; on an
// error nobody sees anything of it, and it may be tried again as it is (errFull, errBusy, errUnwritable).
// ErrOutOfOrder means that the event's Seq is not one more than the last: somebody else has written this run.
// ErrDuplicateID: an id belongs to another run's record already.
func (s *Store) Commit(ctx context.Context, c Change) error {
	rows, err := c.rows()
	if err != nil {
		return err
	}
	run := c.run()
	how := waits
	switch {
	case c.Lazy:
		how = lazily
	case c.Last:
		how = moving
	}
	return s.writeSo(ctx, "save a change of run "+run+" in", how, func(ctx context.Context) error {
		position := position{run, c.Event.Seq}
		if how == moving && s.unsure && s.made == position {
			return nil // only whether it is on the disk was not known
		}
		s.made = position
		if c.CheckInbox {
			if err := s.refuseIfMoved(ctx, run, c.IfInboxAt); err != nil {
				return err
			}
		}
		events := c.Earlier
		if c.Event.Seq != 0 {
			events = append(slices.Clip(events), c.Event)
		}
		if err := s.put(ctx, run, rows, events); err != nil {
			return err
		}
		if c.Taken > 0 {
			return s.exec(ctx, `UPDATE runs SET taken = ? WHERE id = ? AND taken < ?`, c.Taken, run, c.Taken)
		}
		return nil
	})
}

// row is one statement of a change.
type row struct {
	query string
	args  []any
}

const (
	putRun = `INSERT INTO runs (id, started, ended, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, doc = excluded.doc`
	putAgent = `INSERT INTO agents (run, id, doc) VALUES (?, ?, ?)
		ON CONFLICT (run, id) DO UPDATE SET doc = excluded.doc`
	putLaunch = `INSERT INTO launches (run, agent, n, live, doc) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (run, agent, n) DO UPDATE SET live = excluded.live, doc = excluded.doc`
	putQuestion = `INSERT INTO questions (run, id, state, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT (run, id) DO UPDATE SET state = excluded.state, doc = excluded.doc`
	putDelivery = `INSERT INTO deliveries (run, uuid, doc) VALUES (?, ?, ?)
		ON CONFLICT (run, uuid) DO UPDATE SET doc = excluded.doc`
)

// rows encodes the records, before the transaction begins. Records of another run, and ids that could not stand as file
// names, are refused: nothing that an agent made up may name a path later.
func (c *Change) rows() ([]row, error) {
	run := c.run()
	var rows []row
	var errs []error
	put := func(kind, of, id string, record any, query string, keys ...any) {
		if of != run || !PlainID(of) || !PlainID(id) {
			errs = append(errs, fmt.Errorf("%s %q of run %q does not belong in a change of run %q", kind, id, of, run))
			return
		}
		doc, err := json.Marshal(record)
		if err != nil {
			errs = append(errs, fmt.Errorf("encode %s %s: %w", kind, id, err))
			return
		}
		rows = append(rows, row{query, append(keys, string(doc))})
	}
	if r := c.Run; r != nil {
		put("run", r.ID, r.ID, r, putRun, r.ID, r.StartedAt.UnixNano(), r.EndedAt != nil)
	}
	for _, a := range c.Agents {
		put("agent", a.Run, a.ID, a, putAgent, run, a.ID)
	}
	for _, l := range c.Launches {
		put("launch of agent", run, l.Agent, l, putLaunch, run, l.Agent, l.N, !l.Phase.Ended())
	}
	for _, q := range c.Questions {
		put("question", q.Run, q.ID, q, putQuestion, run, q.ID, q.State)
	}
	for _, d := range c.Deliveries {
		put("delivery", run, d.UUID, d, putDelivery, run, d.UUID)
	}
	return rows, errors.Join(errs...)
}

// put writes the records of a run, and appends its events.
func (s *Store) put(ctx context.Context, run string, rows []row, events []Event) error {
	for _, r := range rows {
		if err := s.exec(ctx, r.query, r.args...); err != nil {
			return duplicate(run, err)
		}
	}
	for _, event := range events {
		if err := s.append(ctx, run, event); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) refuseIfMoved(ctx context.Context, run string, at int64) error {
	var moved bool
	const query = `SELECT EXISTS (SELECT 1 FROM inbox
		WHERE run = ? AND seq > max(?, coalesce((SELECT taken FROM runs WHERE id = ?), 0)))`
	if err := s.row(ctx, query, []any{run, at, run}, &moved); err != nil {
		return err
	}
	if moved {
		return fmt.Errorf("run %s: %w", run, ErrInboxMoved)
	}
	return nil
}

// append adds an event, if it is the next one. The lock of the run keeps a second supervisor away; this would catch
// one.
func (s *Store) append(ctx context.Context, run string, e Event) error {
	doc, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event %d of run %s: %w", e.Seq, run, err)
	}
	const query = `INSERT INTO events (run, seq, doc)
		SELECT ?, ?, ? WHERE ? = 1 + coalesce((SELECT max(seq) FROM events WHERE run = ?), 0)`
	result, err := s.execResult(ctx, query, run, e.Seq, string(doc), e.Seq, run)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return fmt.Errorf("event %d of run %s: %w", e.Seq, run, ErrOutOfOrder)
	}
	return nil
}

func duplicate(run string, err error) error {
	if e, is := errors.AsType[*sqlite.Error](err); is && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return fmt.Errorf("run %s: %w: %w", run, ErrDuplicateID, err)
	}
	return err
}
