package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// defaultLogged is SQLite's own choice of Store.logged.
const defaultLogged = 1000

// A durability says how a commit comes to the disk.
type durability int

const (
	waits  durability = iota // at once
	lazily                   // with the next that waits
	moving                   // at once, with all of the log, which is moved into the file
)

// A position is an event of a run.
type position struct {
	run string
	seq int64
}

// moveLog moves the log into the file, which begins with a sync of what was committed lazily. This sync's failure is
// told. Where others who read or write keep some of the log, it stays, and a commit that waits brings it to the disk.
func (s *Store) moveLog(ctx context.Context) error {
	var busy, logged, moved int
	err := s.row(ctx, `PRAGMA wal_checkpoint(PASSIVE)`, nil, &busy, &logged, &moved)
	switch {
	case err != nil:
		s.doubtful = true
		return s.reassure(ctx)
	}
	if err := s.beLazy(ctx, false); err != nil || busy == 0 && moved == logged {
		return err
	}
	for _, query := range []string{`BEGIN IMMEDIATE`, `UPDATE runs SET taken = taken WHERE id = ?`, `COMMIT`} {
		var args []any
		if strings.Contains(query, "?") {
			args = []any{s.made.run}
		}
		if err := s.exec(ctx, query, args...); err != nil {
			s.doubtful = true
			_ = s.rollback(ctx, "write", err)
			return s.reassure(ctx)
		}
	}
	return nil
}

// beLazy prepares the connection for a transaction whose commit waits for the disk, or does not. A commit that waits
// brings all to the disk that was committed before it, by whichever process. So a power cut leaves what was committed
// up to a moment, and that moment is never before the last commit that waited.
//
// No lazy commit moves the log into the file: the sync that begins with is the one whose failure SQLite tells nobody.
func (s *Store) beLazy(ctx context.Context, lazy bool) error {
	if s.lazy == lazy {
		return nil
	}
	pragmas := fmt.Sprintf("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = %d", s.logged)
	if lazy {
		pragmas = "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0"
	}
	if _, err := s.conn.ExecContext(ctx, pragmas); err != nil {
		return s.failed("write", err)
	}
	s.lazy = lazy
	return nil
}

// markUncertain heeds the failure of a commit that waited.
func (s *Store) markUncertain(why error) {
	var e *sqlite.Error
	s.doubtful = s.doubtful || errors.As(why, &e) && e.Code() == sqlite3.SQLITE_IOERR_FSYNC
}

// reassure makes good what a failed sync may have done to lazy commits before it. The kernel takes what it could not
// write for written: a later sync succeeds without it, and a power cut would break the log off there, under commits
// that were waited for. What programs read of the log is whole still: it is written once more, over itself, and synced.
// Until that has succeeded nothing else is written. (To move the log into the file would not do: a power cut in the
// middle would leave a file that is newer than what its log makes good.)
func (s *Store) reassure(ctx context.Context) error {
	if !s.doubtful {
		return nil
	}
	if err := s.exec(ctx, `BEGIN IMMEDIATE`); err != nil { // nobody else may write the log meanwhile
		return s.failed("write", err)
	}
	defer func() { _ = s.exec(ctx, `ROLLBACK`) }()
	if err := s.rewrite(s.path + "-wal"); err != nil {
		return &databaseError{Path: s.path, Doing: "write", Problem: unwritable(err), Err: err}
	}
	s.doubtful = false
	return nil
}

// rewrite writes a file over itself, as it is, and waits for the disk.
func rewrite(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
