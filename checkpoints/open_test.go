package checkpoints

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

func TestANewDatabaseIsWholeAndPrivate(t *testing.T) {
	d := dirsAt(t)
	s := openAt(t, d)
	for path, want := range map[string]fs.FileMode{d.State: fs.ModeDir | 0o700, d.Database(): 0o600} {
		info, err := os.Stat(path)
		noError(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "user_version": "1",
		"foreign_keys": "0"} {
		var got string
		if err := s.row(t.Context(), "PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
	if left, err := filepath.Glob(d.Database() + ".new*"); err != nil || left != nil {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestAStateFolderThatIsOpenToOthersIsClosed(t *testing.T) {
	d := dirsAt(t)
	noError(t, os.Mkdir(d.State, 0o755))
	openAt(t, d)
	if info, err := os.Stat(d.State); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestManyMayCreateTheDatabaseAtOnce(t *testing.T) {
	for range 10 {
		d := dirsAt(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				s, err := Open(d)
				if err != nil {
					t.Error(err)
					return
				}
				saved := s.Commit(t.Context(), Change{Run: &Run{ID: fmt.Sprintf("r-%08d", i)}})
				if err := errors.Join(saved, s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if runs, err := openAt(t, d).Runs(t.Context(), true); err != nil || len(runs) != 8 {
			t.Fatalf("of 8 runs %d are there (%v): one database has replaced another", len(runs), err)
		}
	}
}

func TestAProcessThatNeverEndsCreatingTheDatabaseIsNotWaitedForForEver(t *testing.T) {
	d := dirsAt(t)
	noError(t, os.Mkdir(d.State, 0o700))
	creates := flock.New(d.State, flock.SetFlag(os.O_RDONLY))
	noError(t, creates.Lock())
	impatient := theSystem
	impatient.patience = time.Millisecond
	if s, err := open(d, impatient); !errors.Is(err, errBusy) || s != nil {
		t.Errorf("got %v", err)
	}
	if left := contents(t, d); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	noError(t, creates.Unlock())
	openAt(t, d)
}

// All who write stand in line for the lock that one holds while it creates: who only needs the database to be there
// is not among them.
func TestADatabaseThatAnotherHasCreatedMeanwhileIsNotWaitedFor(t *testing.T) {
	d := dirsAt(t)
	openAt(t, d)
	writes := flock.New(d.State, flock.SetFlag(os.O_RDONLY))
	noError(t, writes.Lock())
	defer func() { _ = writes.Unlock() }()
	impatient := theSystem
	impatient.patience = 0
	if err := create(d, impatient); err != nil {
		t.Error(err)
	}
}

func TestALogWithoutItsDatabaseIsNotReplayedIntoANewOne(t *testing.T) {
	d := dirsAt(t)
	hot := crashed(t, func(s *Store) { commit(t, s, firstChange()) })
	noError(t, os.Mkdir(d.State, 0o700))
	copyFile(t, hot.Database()+"-wal", d.Database()+"-wal")
	if runs, err := openAt(t, d).Runs(t.Context(), true); err != nil || len(runs) != 0 {
		t.Errorf("found %v (%v)", runs, err)
	}
}

func TestReadersCreateNothing(t *testing.T) {
	d := dirsAt(t)
	s, err := OpenReadOnly(d)
	noError(t, err)
	runs, err := s.Runs(t.Context(), true)
	if runs != nil || err != nil {
		t.Errorf("runs %v, %v", runs, err)
	}
	if questions, err := s.Questions(t.Context(), QuestionFilter{}); len(questions) > 0 || err != nil {
		t.Errorf("questions %v, %v", questions, err)
	}
	var unknown *UnknownError
	if _, err := s.Load(t.Context(), testRun); !errors.As(err, &unknown) {
		t.Errorf("load: %v", err)
	}
	if _, _, err := s.Resolve(t.Context(), "k3"); !errors.As(err, &unknown) {
		t.Errorf("resolve: %v", err)
	}
	if err := s.Commit(t.Context(), firstChange()); !errors.Is(err, errUnwritable) {
		t.Errorf("commit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestAReadOnlyStoreSeesWhatIsCommittedAndCannotWrite(t *testing.T) {
	d := dirsAt(t)
	writer := openAt(t, d)
	commit(t, writer, firstChange())
	reader, err := OpenReadOnly(d)
	noError(t, err)
	defer func() { _ = reader.Close() }()
	if runs, err := reader.Runs(t.Context(), false); err != nil || len(runs) != 1 {
		t.Errorf("runs %v, %v", runs, err)
	}
	if err := reader.Commit(t.Context(), Change{Event: Event{Run: testRun, Seq: 2}}); !errors.Is(err, errUnwritable) {
		t.Errorf("commit: %v", err)
	}
}

func TestWhatIsRefusedIsLeftUntouched(t *testing.T) {
	setVersion := func(version string) func(*Store) {
		return func(s *Store) {
			if _, err := s.conn.ExecContext(t.Context(), "PRAGMA user_version = "+version); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := closed(t, func(s *Store) { commit(t, s, firstChange()) })
	text, err := os.ReadFile(ours.Database())
	noError(t, err)
	holding := func(text []byte) Dirs {
		d := dirsAt(t)
		noError(t, errors.Join(os.Mkdir(d.State, 0o700), os.WriteFile(d.Database(), text, 0o600)))
		return d
	}
	for name, c := range map[string]struct {
		dirs Dirs
		want error
	}{
		"newer":                       {closed(t, setVersion("2")), ErrNewer},
		"newer, not closed":           {crashed(t, setVersion("7")), ErrNewer},
		"of another program":          {closed(t, setVersion("0")), errCorrupt},
		"of a negative version":       {closed(t, setVersion("-1")), errCorrupt},
		"text":                        {holding([]byte(strings.Repeat("not a database\n", 1000))), errCorrupt},
		"empty":                       {holding(nil), errCorrupt},
		"cut in its header":           {holding(text[:50]), errCorrupt},
		"cut in the middle":           {holding(text[:len(text)/2]), errCorrupt},
		"with its first page garbled": {holding(append(bytes.Repeat([]byte{0xa5}, 4096), text[4096:]...)), errCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			before := contents(t, c.dirs)
			for name, open := range map[string]func(Dirs) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
				s, err := open(c.dirs)
				if !errors.Is(err, c.want) || s != nil {
					t.Errorf("%s: %v, want %v", name, err, c.want)
				}
			}
			after := contents(t, c.dirs)
			if _, logged := before["state.db-wal"]; logged {
				delete(after, "state.db-shm") // what the log says cannot be known without its index
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("it has changed: %s", diff)
			}
		})
	}
}

func TestDamageThatShowsLaterIsReportedAsDamage(t *testing.T) {
	d := closed(t, func(s *Store) { commit(t, s, firstChange()) })
	text, err := os.ReadFile(d.Database())
	noError(t, err)
	for i := 4096; i < len(text); i++ { // all but the schema
		text[i] ^= 0x5a
	}
	noError(t, os.WriteFile(d.Database(), text, 0o600))
	s := openAt(t, d)
	if _, err := s.Load(t.Context(), testRun); !errors.Is(err, errCorrupt) {
		t.Errorf("load: %v", err)
	}
	if err := s.Commit(t.Context(), firstChange()); !errors.Is(err, errCorrupt) {
		t.Errorf("commit: %v", err)
	}
}

func TestWhereNothingCanBeWrittenTheErrorSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	folder := filepath.Join(dir, "folder")
	closed := filepath.Join(dir, "closed")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(folder, "state.db"), 0o700),
		os.Mkdir(closed, 0o500)); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"the folder is a file":     file,
		"a file is above it":       filepath.Join(file, "state"),
		"the database is a folder": folder,
	}
	if os.Geteuid() != 0 { // no folder is closed to root
		cases["the folder is closed"] = filepath.Join(closed, "state")
	}
	for name, state := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Open(Dirs{State: state})
			if !errors.Is(err, errUnwritable) || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestANetworkFileSystemIsRefused(t *testing.T) {
	d := dirsAt(t)
	onNFS := theSystem
	onNFS.networkFS = func(string) (string, error) { return "nfs", nil }
	_, err := open(d, onNFS)
	if !errors.Is(err, errNetworkFS) || !strings.Contains(err.Error(), "nfs") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(d.Database()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database was made: %v", err)
	}
	if name, err := files.NetworkFS(t.TempDir()); name != "" || err != nil {
		t.Errorf("the folder of this test is taken for %q (%v)", name, err)
	}
}

// closed makes a database that was closed as it should be.
func closed(t *testing.T, fill func(*Store)) Dirs {
	t.Helper()
	d := dirsAt(t)
	s, err := Open(d)
	noError(t, err)
	fill(s)
	noError(t, s.Close())
	return d
}

// crashed makes a database whose content is in its log still, as a power cut leaves it.
func crashed(t *testing.T, fill func(*Store)) Dirs {
	t.Helper()
	from, to := dirsAt(t), dirsAt(t)
	fill(openAt(t, from))
	noError(t, os.Mkdir(to.State, 0o700))
	copyFile(t, from.Database()+"-wal", to.Database()+"-wal")
	copyFile(t, from.Database(), to.Database()) // last: closing it drops our locks
	return to
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	noError(t, err)
	noError(t, os.WriteFile(to, text, 0o600))
}

// contents reads all that lies in the state folder; of an index of a log, that it is there.
func contents(t *testing.T, d Dirs) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(d.State)
	noError(t, err)
	found := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(d.State, e.Name()))
		noError(t, err)
		if strings.HasSuffix(e.Name(), "-shm") {
			text = nil
		}
		found[e.Name()] = string(text)
	}
	return found
}
