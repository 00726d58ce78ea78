package checkpoints

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with the database. They come inside a *databaseError.
var (
	ErrNewer      = errors.New("written by a newer release")
	ErrGone       = errors.New("moved away or removed") // told only to who knows that it was there
	errCorrupt    = errors.New("damaged, or not a database of this program")
	errNetworkFS  = errors.New("on a network file system")
	errUnwritable = errors.New("cannot be opened or written")
	errFull       = errors.New("disk full")                              // nothing was saved; try again once there is room
	errBusy       = errors.New("locked by another process for too long") // nothing was saved; try again
)

// A databaseError says what is wrong with the database, what is safe, and what to do about it.
type databaseError struct {
	Path    string
	Doing   string // what was being done, e.g. "open"
	Problem error  // one of the errors above; nil for anything else
	Err     error  // what the system or SQLite said; may be nil
}

func (e *databaseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Doing, e.Path)
	if e.Problem != nil {
		fmt.Fprintf(&b, ": %v", e.Problem)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	switch {
	case errors.Is(e.Problem, ErrNewer):
		b.WriteString("; it was left untouched: upgrade " + program + ", or set XDG_STATE_HOME to another folder")
	case errors.Is(e.Problem, ErrGone):
		b.WriteString("; no new one was made: put it back with its -wal file, and everything continues")
	case errors.Is(e.Problem, errCorrupt):
		fmt.Fprintf(&b, "; nothing in it was repaired or removed: `sqlite3 %s .recover` shows what can be saved;"+
			" move it away together with its -wal and -shm files to start afresh", e.Path)
	case errors.Is(e.Problem, errNetworkFS):
		b.WriteString("; locks are not reliable there: set XDG_STATE_HOME to a folder on a local disk")
	case errors.Is(e.Problem, errUnwritable):
		fmt.Fprintf(&b, "; make %s a folder that you can write to, or set XDG_STATE_HOME to one", filepath.Dir(e.Path))
	case errors.Is(e.Problem, errFull):
		b.WriteString("; what was saved before is safe: make room, and it continues")
	case errors.Is(e.Problem, errBusy):
		b.WriteString("; nothing was saved: try again")
	}
	return b.String()
}

// Unwrap gives errors.Is the problem and the cause.
func (e *databaseError) Unwrap() []error {
	var both []error
	for _, err := range []error{e.Problem, e.Err} {
		if err != nil {
			both = append(both, err)
		}
	}
	return both
}

// problem names what an error of SQLite means for us; nil if it is nothing that a caller decides on.
func problem(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // no room for the index of the log
		return errFull
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	case sqlite3.SQLITE_FULL:
		return errFull
	// the last: a column or a document of ours is none
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR:
		return errCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR:
		return errUnwritable
	}
	return nil
}

// Unsaved reports whether an error is one of the database, such as a full disk, and no refusal: the same may be saved
// later, or elsewhere.
func Unsaved(err error) bool {
	_, ours := errors.AsType[*databaseError](err)
	return ours
}

// unwritable names what an error of the operating system means for us.
func unwritable(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return errFull
	}
	return errUnwritable
}

// What Answer, ChangeAnswer and Commit refuse. Nothing is saved then.
var (
	ErrNoQuestion  = errors.New("no such question")
	ErrWithdrawn   = errors.New("the question was withdrawn: nobody waits for its answer now")
	ErrUnanswered  = errors.New("the question has no answer yet that could be changed")
	ErrEnded       = errors.New("it has already ended")
	errGroup       = errors.New("it is a group of tasks, which reads nothing; name one of its agents")
	ErrDelivering  = errors.New("the answer is on its way to the agent and can no longer be changed")
	ErrInboxMoved  = errors.New("the inbox holds a note that has not been taken into account")
	ErrOutOfOrder  = errors.New("the event does not follow the last one of its run")
	ErrDuplicateID = errors.New("the id is taken by another record")
)

// ErrNotEnded is what Remove refuses: the run has not ended, or goes on.
var ErrNotEnded = errors.New("it has not ended")

// ErrMalformed is what Import refuses: no database of this program can have held such a run.
var ErrMalformed = errors.New("not a whole run as this program exports it")

// A PackedError says that a run goes on elsewhere, so that nothing is left for it here: two machines could act on it.
type PackedError struct {
	Run  string
	File string // that it was packed into
}

func (e *PackedError) Error() string {
	return fmt.Sprintf("run %s was packed into %s and continues where that file is unpacked; nothing was saved here"+
		" (`%s unpack %s` brings it back)", e.Run, files.Shorten(e.File), program, e.File)
}

// A TakenError says that somebody else's answer came first.
type TakenError struct {
	Question string
	By       string
	At       time.Time
	Answer   string // or the reason why it was declined
	Skipped  bool
	Declined bool
}

func (e *TakenError) Error() string {
	what := fmt.Sprintf("answered %q", files.Shorten(e.Answer))
	switch {
	case e.Skipped:
		what = "skipped"
	case e.Declined:
		what = fmt.Sprintf("declined (%q)", files.Shorten(e.Answer))
	}
	return fmt.Sprintf(
		"question %s was already %s by %s at %s; that answer counts (`%s answer %s --change VALUE` changes it until it is "+
			"delivered)",
		e.Question, what, e.By, e.At.Local().Format(time.DateTime), program, e.Question)
}

// An UnknownError says that nothing here has this id, nor begins with it.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no run, agent or question %q (`%s ps -a` lists the runs, `%s questions` what is asked)",
		files.Shorten(e.ID), program, program)
}

// An AmbiguousError says that several ids begin alike, or that several runs have one name.
type AmbiguousError struct {
	Prefix     string
	Candidates []string // full ids, sorted; the first ones if More
	More       bool
	Name       bool // it is a name
}

func (e *AmbiguousError) Error() string {
	list := strings.Join(e.Candidates, ", ")
	if e.More {
		list += ", …"
	}
	if e.Name {
		return fmt.Sprintf("%q is the name of several runs: %s; give the id of the one that is meant",
			files.Shorten(e.Prefix), list)
	}
	return fmt.Sprintf("%q is the start of several ids: %s; type more of the one that is meant",
		files.Shorten(e.Prefix), list)
}

// A TakenOverError says that somebody goes on with a run from a snapshot of it.
type TakenOverError struct {
	Run  string
	Over TakenOver
}

func (e *TakenOverError) Error() string {
	return fmt.Sprintf("run %s continues elsewhere: %s took it over at %s (epoch %d, in %s); nothing is started here"+
		" (`%s unpack %s` takes it over again)", e.Run, files.Shorten(e.Over.By), e.Over.At.UTC().Format(time.RFC3339),
		e.Over.Epoch, e.Over.In, program, e.Over.In)
}
