package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// Folder is where asks are kept:
//
//	$XDG_STATE_HOME/claude-supervise/sessions.json      the modes, by folder
//	$XDG_STATE_HOME/claude-supervise/sessions/ID.json   an Ask; written by its hook, and settled by a later one
//	                                           ID.lock  flock: its hook waits
//	$XDG_RUNTIME_DIR/claude-supervise/ID.sock           takes answers while it waits
func Folder(d checkpoints.Dirs) string { return filepath.Join(d.State, "sessions") }

// Watched are the folders whose changes are those of asks.
func Watched(d checkpoints.Dirs) string { return Folder(d) }

const (
	maxFile   = 8 << 20 // bytes of an Ask; what a hook takes is less
	maxAsks   = 1000    // that are kept; with as many the screen decides
	maxClosed = 500     // of these, that nobody waits for
	keepFor   = 7 * 24 * time.Hour
)

func pathOf(d checkpoints.Dirs, id, ext string) string { return filepath.Join(Folder(d), id+ext) }

func (a *Ask) save(d checkpoints.Dirs) error {
	doc, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return files.ReplacePrivate(pathOf(d, a.ID, ".json"), append(doc, '\n'))
}

// load reads an ask; fs.ErrNotExist: there is none.
func load(d checkpoints.Dirs, id string) (*Ask, error) {
	if !checkpoints.PlainID(id) {
		return nil, fs.ErrNotExist
	}
	folder, err := files.OpenFolder(Folder(d))
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	text, _, err := files.ReadIn(folder, id+".json", maxFile)
	if err != nil {
		return nil, err
	}
	var a Ask
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", pathOf(d, id, ".json"), err)
	}
	if a.ID != id || a.Schema != schema || len(a.Questions) == 0 || slices.Contains(a.Questions, nil) {
		return nil, fmt.Errorf("%s is none of this release", pathOf(d, id, ".json"))
	}
	return &a, nil
}

// ids lists the asks that are kept.
func ids(d checkpoints.Dirs) ([]string, error) {
	entries, err := os.ReadDir(Folder(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, e := range entries {
		if id, is := strings.CutSuffix(e.Name(), ".json"); is && strings.HasPrefix(id, checkpoints.QuestionPrefix) {
			all = append(all, id)
		}
	}
	return all, err
}

// waits reports whether the hook of an ask does.
func waits(d checkpoints.Dirs, id string) bool {
	lock := flock.New(pathOf(d, id, ".lock"), flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	_ = lock.Close() // gives it back
	return err == nil && !got
}

// conclude gives an ask the state that it has now.
func (a *Ask) conclude(d checkpoints.Dirs) {
	if a.Settled {
		return
	}
	f := Facts{Waits: a.State == Open && waits(d, a.ID)}
	if f.Claude = a.Claude.Alive(); !f.Waits && (!f.Claude || a.State == Open) {
		f.Call = a.outcome()
	}
	a.State = a.Conclude(f)
	if a.State == Answered || a.State == Open {
		return
	}
	for _, q := range a.Questions {
		if a.State == Ended {
			q.Response, q.State = checkpoints.Response{}, checkpoints.QuestionOpen
		} else if q.State == checkpoints.QuestionOpen {
			q.State = checkpoints.QuestionWithdrawn
		}
	}
}

// All returns the asks that are kept as they are now, the oldest first. One that cannot be read is left out.
func All(d checkpoints.Dirs) ([]*Ask, error) {
	names, err := ids(d)
	if err != nil {
		return nil, fmt.Errorf("list the questions of sessions: %w", err)
	}
	var all []*Ask
	for _, id := range names {
		a, err := load(d, id)
		if err != nil {
			continue // it has just gone, or is another release's
		}
		a.conclude(d)
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b *Ask) int { return a.Questions[0].AskedAt.Compare(b.Questions[0].AskedAt) })
	return all, nil
}

// Waiting reports whether a person can answer the ask: here, or in a supervised run.
func (a *Ask) Waiting() bool { return a.State == Open || a.State == Ended }

// Find returns the ask of a question, and the question; nil: there is none.
func Find(d checkpoints.Dirs, question string) (*Ask, *checkpoints.Question) {
	if !strings.HasPrefix(question, checkpoints.QuestionPrefix) {
		question = checkpoints.QuestionPrefix + question
	}
	if a, err := load(d, question); err == nil {
		a.conclude(d)
		return a, a.question(question)
	}
	all, _ := All(d) // that they cannot be listed, lists say
	for _, a := range all {
		if q := a.question(question); q != nil {
			return a, q
		}
	}
	return nil, nil
}

// tidy settles what became of asks whose claude is gone, so that no reader looks at their transcripts again, and
// removes those that have long been closed, or of very many the oldest. Only a hook does it, at its end.
func tidy(d checkpoints.Dirs, now time.Time) {
	all, err := All(d)
	if err != nil {
		return
	}
	closed := 0
	for _, a := range slices.Backward(all) {
		if !a.Waiting() {
			closed++
		}
		age := now.Sub(a.Questions[0].AskedAt)
		old := age > keepFor && (!a.Waiting() || age > 5*keepFor) || !a.Waiting() && closed > maxClosed
		settles := !a.Waiting() && !a.Settled && !a.Claude.Alive()
		if !old && !settles {
			continue
		}
		lock := flock.New(pathOf(d, a.ID, ".lock"))
		if got, err := lock.TryLock(); err != nil || !got {
			continue
		}
		if old {
			_ = os.Remove(pathOf(d, a.ID, ".json"))
			_ = os.Remove(pathOf(d, a.ID, ".lock"))
		} else {
			a.Settled = true
			_ = a.save(d) // else the next does
		}
		_ = lock.Close() // gives it back
	}
}

// Dismiss closes an ask that has ended: a person wants to see no more of it.
func Dismiss(d checkpoints.Dirs, a *Ask) error {
	lock := flock.New(pathOf(d, a.ID, ".lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil || !got {
		return errors.Join(err, fmt.Errorf("question %s: its hook waits", a.ID))
	}
	defer func() { _ = lock.Close() }() // gives it back
	for _, q := range a.Questions {
		q.State = checkpoints.QuestionWithdrawn
	}
	a.State, a.Settled = Withdrawn, true
	return a.save(d)
}
