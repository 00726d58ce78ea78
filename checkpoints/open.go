package checkpoints

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
)

//go:embed schema.sql
var schema string

const schemaVersion = 1

// busyTimeout is how long a transaction waits for another process's. A healthy one takes milliseconds.
const busyTimeout = 10 * time.Second

// The modes of a connection, as in SQLite's URI parameter. None creates the file: only create does, and whole.
const (
	readOnly  = "ro"
	readWrite = "rw"
)

// Open opens the database for writing, and creates it with its folder if there is none. It looks at an existing one
// read-only first, so that what it refuses stays as it is, byte for byte. Errors are *DatabaseError: ErrNewer, ErrCorrupt,
// ErrNetworkFS, ErrUnwritable, ErrFull.
func Open(d Dirs) (*Store, error) {
	return open(d, networkFS)
}

func open(d Dirs, networkFS func(path string) (string, error)) (*Store, error) {
	path := d.Database()
	if err := d.makeState(); err != nil {
		return nil, &DatabaseError{Path: path, Doing: "open", Problem: ErrUnwritable, Err: err}
	}
	if err := refuseNetworkFS(d, networkFS); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(d); err != nil {
			return nil, err
		}
	}
	look, err := connect(path, readOnly)
	if err != nil {
		return nil, err
	}
	if err := look.Close(); err != nil {
		return nil, err
	}
	return connect(path, readWrite)
}

// OpenReadOnly opens the database for readers. It creates nothing: where there is no database yet the store is empty.
// Errors are those of Open.
func OpenReadOnly(d Dirs) (*Store, error) {
	path := d.Database()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return &Store{path: path}, nil
	}
	if err := refuseNetworkFS(d, networkFS); err != nil {
		return nil, err
	}
	return connect(path, readOnly)
}

func refuseNetworkFS(d Dirs, networkFS func(path string) (string, error)) error {
	switch name, err := networkFS(d.State); {
	case err != nil:
		return &DatabaseError{Path: d.Database(), Doing: "open", Problem: ErrUnwritable, Err: err}
	case name != "":
		return &DatabaseError{Path: d.Database(), Doing: "open", Problem: ErrNetworkFS, Err: errors.New(name)}
	}
	return nil
}

// connect opens one connection and checks that the schema is ours.
func connect(path, mode string) (*Store, error) {
	s, err := dial(path, mode)
	if err != nil {
		return nil, err
	}
	var version int
	if err := s.row(context.Background(), `PRAGMA user_version`, nil, &version); err != nil {
		return nil, errors.Join(s.failed("open", err), s.Close())
	}
	if version == schemaVersion {
		return s, nil
	}
	refusal := &DatabaseError{Path: path, Doing: "open", Problem: ErrCorrupt}
	if version > schemaVersion {
		refusal.Problem = ErrNewer
		refusal.Err = fmt.Errorf("schema %d, this release knows %d", version, schemaVersion)
	}
	return nil, errors.Join(refusal, s.Close())
}

func dial(path, mode string) (*Store, error) {
	parameters := url.Values{
		"mode":          {mode},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_error_rc":     {"1"}, // else what cannot be opened is reported as "out of memory"
	}
	if mode == readWrite {
		parameters.Set("_synchronous", "FULL")
	}
	source := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	connector, err := sqlite.NewConnector(source.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{path: path, db: sql.OpenDB(connector), patience: busyTimeout, prepared: map[string]*sql.Stmt{}}
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		return nil, errors.Join(s.failed("open", err), s.db.Close())
	}
	return s, nil
}

// create makes the database under another name and moves it into place when it is whole, so that nobody ever finds half
// of one. Of several processes that find none, one creates; the others wait for it.
func create(d Dirs) error {
	path := d.Database()
	folder := flock.New(d.State, flock.SetFlag(os.O_RDONLY)) // the folder itself: no lock file to leave behind
	if err := folder.Lock(); err != nil {
		return &DatabaseError{Path: path, Doing: "create", Problem: ErrUnwritable, Err: err}
	}
	defer func() { _ = folder.Unlock() }()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	// A write-ahead log without its database would be replayed into the new one.
	fresh := path + ".new"
	for _, stale := range []string{path + "-wal", path + "-shm", fresh, fresh + "-journal", fresh + "-wal", fresh + "-shm"} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &DatabaseError{Path: path, Doing: "create", Problem: ErrUnwritable, Err: err}
		}
	}
	if err := build(fresh); err != nil {
		return err
	}
	err := os.Rename(fresh, path)
	if err == nil {
		err = syncDir(d.State)
	}
	if err != nil {
		return &DatabaseError{Path: path, Doing: "create", Problem: ErrUnwritable, Err: err}
	}
	return nil
}

func build(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return &DatabaseError{Path: path, Doing: "create", Problem: ErrUnwritable, Err: err}
	}
	if err := file.Close(); err != nil {
		return &DatabaseError{Path: path, Doing: "create", Problem: ErrUnwritable, Err: err}
	}
	s, err := dial(path, readWrite)
	if err != nil {
		return err
	}
	// WAL comes last, when all is committed to the file itself: closing moves the log's content into it, but would not
	// report that it could not.
	script := fmt.Sprintf("BEGIN; %s; PRAGMA user_version = %d; COMMIT; PRAGMA journal_mode = WAL", schema, schemaVersion)
	if _, err := s.conn.ExecContext(context.Background(), script); err != nil {
		return errors.Join(s.failed("create", err), s.Close())
	}
	return s.Close()
}

// syncDir makes a rename in dir last.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
