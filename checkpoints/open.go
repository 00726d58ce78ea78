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
	"strings"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
)

//go:embed schema.sql
var schema string

const schemaVersion = 1

const pageSize = 4096 // SQLite's own choice, too

// busyTimeout is how long a transaction waits for another process's. A healthy one takes milliseconds.
const busyTimeout = 10 * time.Second

// The modes of a connection. None creates the file: only create does, and whole.
const (
	immutable = "immutable" // reads the file alone: no log, no lock, nothing made
	readOnly  = "ro"
	readWrite = "rw"
)

// Open opens the database for writing, and creates it with its folder if there is none. It looks at an existing one
// read-only first, so that what it refuses stays as it is, byte for byte. A file that is there and empty is damage, not
// a fresh start: this program never leaves one, so something else has taken away what it held. Errors are
// *databaseError: ErrNewer, errCorrupt, errNetworkFS, errUnwritable, errFull, errBusy.
func Open(d Dirs) (*Store, error) {
	return open(d, theSystem)
}

// system is what opening asks of the operating system besides SQLite's own calls.
type system struct {
	networkFS func(path string) (string, error)
	rename    func(from, to string) error
	remove    func(path string) error
	syncDir   func(dir string) error
	rewrite   func(path string) error
	patience  time.Duration // how long a process is waited for that creates the database
}

var theSystem = system{files.NetworkFS, os.Rename, os.Remove, files.SyncDir, rewrite, busyTimeout}

func open(d Dirs, sys system) (*Store, error) {
	path := d.Database()
	if err := d.makeState(sys.syncDir); err != nil {
		return nil, &databaseError{Path: path, Doing: "open", Problem: unwritable(err), Err: err}
	}
	if err := refuseNetworkFS(d, sys.networkFS); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(d, sys); err != nil {
			return nil, err
		}
	}
	return openThere(path, sys)
}

// OpenExisting is Open for who knows that the database is there. Where it is gone, that is ErrGone, and none is made.
func OpenExisting(d Dirs) (*Store, error) {
	if err := d.Gone(); err != nil {
		return nil, err
	}
	if err := refuseNetworkFS(d, files.NetworkFS); err != nil {
		return nil, err
	}
	return openThere(d.Database(), theSystem)
}

// Gone is the error for a database that was there, and is not any more; nil if it is there.
func (d Dirs) Gone() error {
	if _, err := os.Lstat(d.Database()); errors.Is(err, fs.ErrNotExist) {
		return &databaseError{Path: d.Database(), Doing: "open", Problem: ErrGone}
	}
	return nil
}

func openThere(path string, sys system) (*Store, error) {
	logged, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if logged { // what it holds might be a newer release's, which closing a writer would move into the file
		look, err := connect(path, readOnly)
		if err != nil {
			return nil, err
		}
		if err := look.Close(); err != nil {
			return nil, err
		}
	}
	s, err := connect(path, readWrite)
	if err != nil {
		return nil, err
	}
	s.rewrite = sys.rewrite
	return s, s.indexByName()
}

// indexByName gives a database the index that earlier ones of the same schema did not have. They can be read without
// it.
func (s *Store) indexByName() error {
	for line := range strings.Lines(schema) {
		if strings.HasPrefix(line, "CREATE INDEX IF NOT EXISTS") {
			_, err := s.conn.ExecContext(context.Background(), line)
			if err != nil && !errors.Is(s.failed("open", err), errFull) { // a full disk can do without
				return errors.Join(s.failed("open", err), s.Close())
			}
		}
	}
	return nil
}

// OpenReadOnly opens the database for readers. It creates nothing: where there is no database yet the store is empty.
// It works on a disk that is mounted read-only, too. Errors are those of Open.
func OpenReadOnly(d Dirs) (*Store, error) {
	path := d.Database()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return &Store{path: path}, nil
	}
	if err := refuseNetworkFS(d, files.NetworkFS); err != nil {
		return nil, err
	}
	logged, err := inspect(path)
	if err != nil {
		return nil, err
	}
	s, err := connect(path, readOnly)
	switch {
	case err == nil || logged:
	case errors.Is(err, errFull), // and an index that others have made would have done
		errors.Is(err, errUnwritable) && errors.Is(unix.Access(d.State, unix.W_OK), unix.EROFS):
		return connect(path, immutable) // SQLite cannot make its index here, and needs none: nobody can write
	}
	return s, err
}

func refuseNetworkFS(d Dirs, networkFS func(path string) (string, error)) error {
	switch name, err := networkFS(d.State); {
	case err != nil:
		return &databaseError{Path: d.Database(), Doing: "open", Problem: errUnwritable, Err: err}
	case name != "":
		return &databaseError{Path: d.Database(), Doing: "open", Problem: errNetworkFS, Err: errors.New(name)}
	}
	return nil
}

// connect opens one connection and checks that the schema is ours.
func connect(path, mode string) (*Store, error) {
	s, err := dial(path, mode)
	if err != nil {
		return nil, err
	}
	if err := s.refuse(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// refuse tells what keeps this release from using the database. It makes SQLite read the whole schema.
func (s *Store) refuse() error {
	var version, tables int
	if err := s.row(context.Background(), `PRAGMA user_version`, nil, &version); err != nil {
		return s.failed("open", err)
	}
	corrupt := func(why error) error {
		return &databaseError{Path: s.path, Doing: "open", Problem: errCorrupt, Err: why}
	}
	switch {
	case version > schemaVersion:
		why := fmt.Errorf("schema %d, this release knows %d", version, schemaVersion)
		return &databaseError{Path: s.path, Doing: "open", Problem: ErrNewer, Err: why}
	case version < schemaVersion:
		return corrupt(fmt.Errorf("schema %d, which no release has written", version))
	}
	const query = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN
		('runs', 'agents', 'launches', 'questions', 'deliveries', 'events', 'inbox')`
	if err := s.row(context.Background(), query, nil, &tables); err != nil {
		return s.failed("open", err)
	}
	if tables != 7 {
		return corrupt(errors.New("our tables are not in it"))
	}
	return nil
}

func dial(path, mode string) (*Store, error) {
	parameters := url.Values{
		"mode":          {readOnly},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_error_rc":     {"1"}, // else what cannot be opened is reported as "out of memory"
	}
	switch mode {
	case immutable:
		parameters.Set("immutable", "1")
	case readWrite:
		parameters.Set("mode", readWrite)
		parameters.Set("_synchronous", "FULL")
		parameters.Set("_pragma", "fullfsync(1)") // on macOS a plain fsync leaves it in the drive's cache
	}
	source := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode()}
	connector, err := sqlite.NewConnector(source.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{path: path, db: sql.OpenDB(connector), patience: busyTimeout, logged: defaultLogged,
		prepared: map[string]*sql.Stmt{}}
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		return nil, errors.Join(s.failed("open", err), s.db.Close())
	}
	return s, nil
}

// create makes the database under another name and moves it into place when it is whole, so that nobody ever finds half
// of one. Of several processes that find none, one creates; the others wait for it, for ten seconds at most (errBusy).
func create(d Dirs, sys system) error {
	path := d.Database()
	failed := func(err error) error {
		return &databaseError{Path: path, Doing: "create", Problem: unwritable(err), Err: err}
	}
	folder, err := lockToCreate(d, sys)
	if folder == nil {
		return err
	}
	defer func() { _ = folder.Unlock() }()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	// A write-ahead log without its database would be replayed into the new one.
	fresh := path + ".new"
	for _, stale := range []string{path + "-wal", path + "-shm", fresh, fresh + "-journal", fresh + "-wal",
		fresh + "-shm"} {
		if err := sys.remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(err)
		}
	}
	if err := build(fresh); err != nil {
		return err
	}
	// First that the stale files are gone, and only then the name: a power cut may keep the second without the first.
	for _, step := range []func() error{
		func() error { return sys.syncDir(d.State) },
		func() error { return sys.rename(fresh, path) },
		func() error { return sys.syncDir(d.State) },
	} {
		if err := step(); err != nil {
			return failed(err)
		}
	}
	return nil
}

// lockToCreate locks the state folder for the one process that creates the database; nil if another has created it.
// errBusy if that takes too long.
func lockToCreate(d Dirs, sys system) (*flock.Flock, error) {
	path := d.Database()
	failed := func(problem, err error) error {
		return &databaseError{Path: path, Doing: "create", Problem: problem, Err: err}
	}
	folder := flock.New(d.State, flock.SetFlag(os.O_RDONLY)) // the folder itself: no lock file to leave behind
	patience := time.NewTimer(sys.patience)
	defer patience.Stop()
	for {
		// Once it has its name it is whole. The lock is not waited for then: all who write stand in line for it.
		if _, err := os.Lstat(path); err == nil {
			if err := sys.syncDir(d.State); err != nil { // whoever created it may not have come to this yet
				return nil, failed(unwritable(err), err)
			}
			return nil, nil
		}
		switch taken, err := folder.TryLock(); {
		case err != nil:
			return nil, failed(unwritable(err), err)
		case taken:
			return folder, nil
		}
		select {
		case <-patience.C:
			return nil, failed(errBusy, nil)
		case <-time.After(ownInterval):
		}
	}
}

func build(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return &databaseError{Path: path, Doing: "create", Problem: unwritable(err), Err: err}
	}
	if err := file.Close(); err != nil {
		return &databaseError{Path: path, Doing: "create", Problem: unwritable(err), Err: err}
	}
	s, err := dial(path, readWrite)
	if err != nil {
		return err
	}
	// WAL comes last, when all is committed to the file itself: closing moves the log's content into it, but would not
	// report that it could not.
	script := fmt.Sprintf("PRAGMA page_size = %d; BEGIN; %s; PRAGMA user_version = %d; COMMIT; PRAGMA journal_mode = WAL",
		pageSize, schema, schemaVersion)
	if _, err := s.conn.ExecContext(context.Background(), script); err != nil {
		return errors.Join(s.failed("create", err), s.Close())
	}
	return s.Close()
}
