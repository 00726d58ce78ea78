package checkpoints

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// A Store is one open database. Its methods may be called from several goroutines; they take turns. Writing methods
// wait for their turn among the writers of all processes, at most twenty seconds in all (errBusy); their context calls
// off the first ten. Once a transaction has begun nothing cuts it short, so that its result is always true. The zero
// value, and a store opened read-only where no database is, is empty and cannot be written.
type Store struct {
	path     string
	db       *sql.DB
	patience time.Duration // with the queue of writers

	mu       sync.Mutex // one transaction at a time: there is one connection
	lazy     bool       // a commit does not wait for the disk (sync.go)
	doubtful bool       // the disk may have forgotten some of the log
	made     position   // of the last Change
	unsure   bool       // it may not be on the disk, though it was to be
	rewrite  func(path string) error
	logged   int // pages in the log from which on they are moved into the file
	conn     *sql.Conn
	queued   *queued              // nil: this Store waits for no turn
	prepared map[string]*sql.Stmt // by their text; kept, for compiling costs more than running
}

// Close gives the database back. It must not be called while another method runs. Where the last commit was lazy and
// the disk refuses it now, the store stays open: Close may be called again.
func (s *Store) Close() error {
	if s.db == nil {
		return nil
	}
	s.doubtful = s.doubtful || s.lazy // SQLite would not tell
	if err := s.reassure(context.Background()); err != nil {
		return err
	}
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	errs = append(errs, s.conn.Close(), s.db.Close())
	return errors.Join(errs...)
}

// failed says what was being done to which database, and what the failure means for the caller.
func (s *Store) failed(doing string, err error) error {
	return &databaseError{Path: s.path, Doing: doing, Problem: problem(err), Err: err}
}

// write runs work in one transaction that excludes other writers from its first statement on. The error of work is
// returned as it is, and nothing is saved then.
func (s *Store) write(ctx context.Context, doing string, work func(ctx context.Context) error) error {
	return s.writeSo(ctx, doing, waits, work)
}

// writeSo is write, and says how the commit comes to the disk.
func (s *Store) writeSo(ctx context.Context, doing string, how durability, work func(ctx context.Context) error) error {
	if s.db == nil {
		return &databaseError{Path: s.path, Doing: doing, Problem: errUnwritable,
			Err: errors.New("opened for reading, and not there")}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.waitTurn(ctx)()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %s: %w", doing, s.path, err)
	}
	ctx = context.WithoutCancel(ctx) // a commit that is interrupted would leave unknown whether it happened
	if err := s.reassure(ctx); err != nil {
		return err
	}
	if err := s.beLazy(ctx, how != waits); err != nil {
		return err
	}
	if err := s.exec(ctx, `BEGIN IMMEDIATE`); err != nil {
		return s.failed(doing, err)
	}
	if err := work(ctx); err != nil {
		return s.rollback(ctx, doing, err)
	}
	if err := s.exec(ctx, `COMMIT`); err != nil {
		s.markUncertain(err)
		err = s.rollback(ctx, doing, err)
		_ = s.reassure(ctx) // else the next write does
		return err
	}
	if how == moving {
		err := s.moveLog(ctx)
		s.unsure = err != nil
		return err
	}
	return nil
}

// asOne marks the context of what reads one state of a store.
type asOne struct{}

// AsOne lets the reads of work, which are given its context, see one state of the database: nothing that is saved
// between two of them. Others who use the store wait meanwhile.
func (s *Store) AsOne(ctx context.Context, work func(ctx context.Context) error) error {
	if s.db == nil {
		return work(ctx)
	}
	return s.read(ctx, "read", func(ctx context.Context) error { return work(context.WithValue(ctx, asOne{}, s)) })
}

// read runs work on one state of the database; not at all on an empty store.
func (s *Store) read(ctx context.Context, doing string, work func(ctx context.Context) error) error {
	switch {
	case s.db == nil:
		return nil
	case ctx.Value(asOne{}) == s:
		return work(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.exec(ctx, `BEGIN`); err != nil {
		return s.failed(doing, err)
	}
	return s.rollback(context.WithoutCancel(ctx), doing, work(ctx))
}

// readKnown is read for what has this id: *UnknownError where a query of work finds no row, and on an empty store.
func (s *Store) readKnown(ctx context.Context, doing, id string, work func(ctx context.Context) error) error {
	err := s.read(ctx, doing, work)
	if err == nil && s.db == nil || errors.Is(err, sql.ErrNoRows) {
		return &UnknownError{ID: id}
	}
	return err
}

// rollback ends the transaction and gives back the error that ended it, explained if it is SQLite's. Some failures (a
// full disk) have rolled back already: what ROLLBACK says of that is of no use.
func (s *Store) rollback(ctx context.Context, doing string, err error) error {
	_ = s.exec(ctx, `ROLLBACK`)
	if _, is := errors.AsType[*sqlite.Error](err); is {
		return s.failed(doing, err)
	}
	return err
}

func (s *Store) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := s.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	_, err := s.execResult(ctx, query, args...)
	return err
}

func (s *Store) execResult(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// row reads the one row of a query into dest; sql.ErrNoRows if there is none.
func (s *Store) row(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(dest...)
}

// rows calls scan for each row of a query.
func (s *Store) rows(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return err
	}
	found, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	for found.Next() {
		if err := scan(found); err != nil {
			return errors.Join(err, found.Close())
		}
	}
	return errors.Join(found.Err(), found.Close())
}

// documents reads the records of a query that selects documents only.
func documents[Record any](ctx context.Context, s *Store, query string, args ...any) ([]Record, error) {
	var records []Record
	err := s.rows(ctx, query, args, func(found *sql.Rows) error {
		var doc sql.RawBytes
		if err := found.Scan(&doc); err != nil {
			return err
		}
		record, err := recall[Record](ctx, s, doc)
		if err != nil {
			return err
		}
		records = append(records, *record)
		return nil
	})
	return records, err
}

// records is documents in a look of its own.
func records[Record any](ctx context.Context, s *Store, doing, query string, args ...any) (all []Record, err error) {
	err = s.read(ctx, doing, func(ctx context.Context) (err error) {
		all, err = documents[Record](ctx, s, query, args...)
		return err
	})
	return all, err
}

// decode reads one document. One that is no JSON was not written by us.
func (s *Store) decode(doc []byte, record any) error {
	if err := json.Unmarshal(doc, record); err != nil {
		return &databaseError{Path: s.path, Doing: "read", Problem: errCorrupt, Err: err}
	}
	return nil
}
