//go:build linux && (amd64 || arm64)

package checkpoints

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"claude-supervise/checkpoints/files"

	"github.com/google/go-cmp/cmp"
)

// A fault lets some calls of its kinds pass and makes those after them fail, one or all, until it is mended.
type fault struct {
	kinds  []string
	errno  syscall.Errno
	once   bool
	pass   int
	struck bool
	mended bool
}

func (f *fault) before(c diskCall) syscall.Errno {
	if f.mended || f.once && f.struck || !slices.Contains(f.kinds, c.kind) {
		return 0
	}
	if f.pass > 0 {
		f.pass--
		return 0
	}
	f.struck = true
	return f.errno
}

func (f *fault) after(diskCall) {}

// Whatever call fails, at whatever moment: the error says which sort of trouble it is, nothing that was acknowledged is
// lost, and once the trouble is over the same store goes on, with the same change.
func TestAFailingDiskLosesNothingAndTheStoreGoesOnAfterwards(t *testing.T) {
	origin := crashed(t, func(s *Store) {
		noError(t, s.exec(t.Context(), `PRAGMA wal_autocheckpoint = 0`))
		parkedRun(t, s) // in the log still: opening it means to recover it
	})
	changes := []string{callWrite, callTruncate}
	for name, f := range map[string]fault{
		"full":             {kinds: []string{callWrite}, errno: syscall.ENOSPC},
		"over quota":       {kinds: []string{callWrite}, errno: syscall.EDQUOT},
		"writes fail":      {kinds: changes, errno: syscall.EIO},
		"one write fails":  {kinds: changes, errno: syscall.EIO, once: true},
		"reads fail":       {kinds: []string{callRead}, errno: syscall.EIO},
		"one read fails":   {kinds: []string{callRead}, errno: syscall.EIO, once: true},
		"syncs fail":       {kinds: []string{callSync}, errno: syscall.EIO},
		"one sync fails":   {kinds: []string{callSync}, errno: syscall.EIO, once: true},
		"turned read-only": {kinds: []string{callWrite, callTruncate, callUnlink, callOpen}, errno: syscall.EROFS},
		"no more may open": {kinds: []string{callOpen}, errno: syscall.EMFILE},
		"nothing may go":   {kinds: []string{callUnlink}, errno: syscall.EACCES},
		"folders sync ill": {kinds: []string{callSyncDir}, errno: syscall.EIO},
		"everything breaks": {kinds: []string{callWrite, callTruncate, callRead, callSync, callOpen, callUnlink},
			errno: syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			for pass := 0; ; pass += 1 + pass/8 { // each of the first calls, and then ever fewer
				f := f
				f.pass = pass
				if !strike(t, origin, &f) {
					if pass == 0 {
						t.Error("no call was made to fail")
					}
					return
				}
			}
		})
	}
}

// strike opens a copy of the database, answers, commits, closes, with a fault on the way, and reports whether it
// struck.
func strike(t *testing.T, origin Dirs, f *fault) bool {
	t.Helper()
	dir, remove := passingDir(t)
	defer remove()
	d := Dirs{State: dir}
	copyFile(t, origin.Database()+"-wal", d.Database()+"-wal")
	copyFile(t, origin.Database(), d.Database())
	watch(dir, f)
	defer watch(dir, nil)

	// again does what failed once more, now that the disk is well: that must do.
	again := func(doing string, err error, do func() error) {
		t.Helper()
		if err == nil {
			return
		}
		if problem, ok := errors.AsType[*databaseError](err); !ok || problem.Problem == nil {
			t.Fatalf("%s at pass %d: an error of no sort: %v", doing, f.pass, err)
		} else if f.errno == syscall.ENOSPC && !errors.Is(err, errFull) {
			t.Fatalf("%s at pass %d: not said to be full: %v", doing, f.pass, err)
		}
		f.mended = true
		if err := do(); err != nil {
			t.Fatalf("%s, the disk being well again: %v", doing, err)
		}
		f.mended = false
	}
	attempt := func(doing string, do func() error) { t.Helper(); again(doing, do(), do) }

	var s *Store
	attempt("open", func() (err error) { s, err = Open(d); return err })
	if err := s.exec(t.Context(), `PRAGMA wal_autocheckpoint = 4`); err != nil && !f.struck {
		t.Fatal(err)
	}
	c := Change{Agents: firstChange().Agents,
		Event: Event{Run: testRun, Seq: 3, At: noon, Type: "went on", Doc: []byte(`{}`)}}
	attempt("commit", func() error { return s.Commit(t.Context(), c) })
	attempt("change", func() error {
		_, err := s.ChangeAnswer(t.Context(), InboxEntry{Question: testQuestion, Value: "postgres", By: "me", At: noon})
		return err
	})
	attempt("load", func() error { _, err := s.Load(t.Context(), testRun); return err })
	_ = s.Close()
	f.mended = true

	want := []string{"1 asked", "2 stopped", "3 went on", "stop: ", "answer: sqlite", "change: postgres"}
	after, err := Open(d)
	if err != nil {
		t.Fatalf("at pass %d: %v", f.pass, err)
	}
	defer func() { _ = after.Close() }()
	e := export(t, after)
	var got []string
	for _, event := range e.Events {
		got = append(got, fmt.Sprint(event.Seq, " ", event.Type))
	}
	for _, n := range e.Notes {
		got = append(got, n.Kind+": "+n.Value)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("at pass %d: %s", f.pass, diff)
	}
	return f.struck
}

func TestWhatCannotBeCreatedIsToldAndIsCreatedLater(t *testing.T) {
	kinds := []string{callWrite, callTruncate, callSync, callUnlink, callRename, callSyncDir}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		for pass := 0; failToCreate(t, &fault{kinds: kinds, errno: errno, pass: pass}); pass++ {
		}
	}
}

// failToCreate opens a store where none is, with a fault on the way, and then without, and reports whether it struck.
func failToCreate(t *testing.T, f *fault) bool {
	t.Helper()
	dir, remove := passingDir(t)
	defer remove()
	d := Dirs{State: dir}
	watch(dir, f)
	defer watch(dir, nil)
	sys := theSystem
	sys.rename = func(from, to string) error {
		if errno := f.before(diskCall{kind: callRename}); errno != 0 {
			return errno
		}
		return os.Rename(from, to)
	}
	sys.syncDir = func(dir string) error {
		if errno := f.before(diskCall{kind: callSyncDir}); errno != 0 {
			return errno
		}
		return files.SyncDir(dir)
	}
	s, err := open(d, sys)
	f.mended = true
	if err != nil {
		if problem, ok := errors.AsType[*databaseError](err); !ok || problem.Problem == nil {
			t.Fatalf("%v: an error of no sort: %v", f.errno, err)
		}
		if s, err = Open(d); err != nil {
			t.Fatalf("%v, the disk being well again: %v", f.errno, err)
		}
	}
	commit(t, s, firstChange())
	noError(t, s.Close())
	if s, err = Open(d); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if runs, err := s.Runs(t.Context(), true); err != nil || len(runs) != 1 {
		t.Fatalf("%v: %d runs (%v)", f.errno, len(runs), err)
	}
	return f.struck
}
