package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// Folder is where asks are kept:
//
//	$XDG_STATE_HOME/claude-supervise/sessions.json      the modes, by folder
//	$XDG_STATE_HOME/claude-supervise/sessions/ID.json   an Ask; written by its hook
//	                                           ID.lock  flock: its hook waits
//	                                           ID.notices, ID.buttons   what a phone was told, and its answers
//	                                           closed/  those that can change no more, as a later hook has found
//	$XDG_RUNTIME_DIR/claude-supervise/ID.sock           takes answers while it waits
func Folder(d checkpoints.Dirs) string { return filepath.Join(d.State, "sessions") }

const (
	maxFile   = 8 << 20 // bytes of an Ask; what a hook takes is less
	maxAsks   = 1000    // that are not closed; with as many the screen decides
	maxClosed = 500
	keepFor   = 7 * 24 * time.Hour
)

func closed(d checkpoints.Dirs) string { return filepath.Join(Folder(d), "closed") }

func pathOf(d checkpoints.Dirs, id, ext string) string { return filepath.Join(Folder(d), id+ext) }

func (a *Ask) save(d checkpoints.Dirs) error { return a.saveIn(Folder(d)) }

func (a *Ask) saveIn(folder string) error {
	doc, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return files.ReplacePrivate(filepath.Join(folder, a.ID+".json"), append(doc, '\n'))
}

// archive puts an ask that can change no more among those that are closed. The caller holds its lock.
func (a *Ask) archive(d checkpoints.Dirs) error {
	a.Settled = true
	if err := files.MakePrivate(closed(d)); err != nil {
		return err
	}
	if err := a.saveIn(closed(d)); err != nil {
		return err
	}
	return remove(d, a.ID)
}

// forget removes what is beside an ask.
func forget(d checkpoints.Dirs, id string) {
	told, _ := filepath.Glob(pathOf(d, id, ".notices*"))
	for _, path := range append(told, pathOf(d, id, ".buttons")) {
		_ = os.Remove(path) // most were told to nobody
	}
}

// remove removes an ask that is not closed, or what is left of it.
func remove(d checkpoints.Dirs, id string) error {
	return errors.Join(os.Remove(pathOf(d, id, ".json")), os.Remove(pathOf(d, id, ".lock")))
}

// load reads an ask that is not closed; fs.ErrNotExist: there is none.
func load(d checkpoints.Dirs, id string) (*Ask, error) { return loadIn(Folder(d), id) }

func loadIn(in, id string) (*Ask, error) {
	if !checkpoints.PlainID(id) {
		return nil, fs.ErrNotExist
	}
	folder, err := files.OpenFolder(in)
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
		return nil, fmt.Errorf("%s cannot be read: %w", filepath.Join(in, id+".json"), err)
	}
	if a.ID != id || a.Schema != schema || len(a.Questions) == 0 || slices.Contains(a.Questions, nil) {
		return nil, fmt.Errorf("%s is none of this release", filepath.Join(in, id+".json"))
	}
	return &a, nil
}

// ids lists the asks that are not closed.
func ids(d checkpoints.Dirs) ([]string, error) { return idsIn(Folder(d)) }

func idsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
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
	a.concludeFrom(Facts{Waits: a.State == Open && waits(d, a.ID), Claude: a.Claude.Alive()}, false)
}

// concludeFrom is conclude for who has looked already who lives. The transcript is read only if it decides, or whoever
// calls wants to know whether that state is the last: nobody waits, and the call has a result.
func (a *Ask) concludeFrom(f Facts, ask bool) (last bool) {
	if a.Settled || a.Far() {
		return a.Settled
	}
	if !f.Waits && (ask || !f.Claude || a.State == Open || a.State == Answered) {
		f.Call = a.outcome()
	}
	a.is(a.Conclude(f))
	return f.Call != None && !a.Waiting()
}

// is gives an ask and its questions a state.
func (a *Ask) is(s State) {
	a.State = s
	if s == Answered || s == Open {
		return
	}
	for _, q := range a.Questions {
		if s == Ended {
			q.Response, q.State = checkpoints.Response{}, checkpoints.QuestionOpen
		} else if q.State == checkpoints.QuestionOpen {
			q.State = checkpoints.QuestionWithdrawn
		}
	}
}

// A Memory is what a reader that looks again and again knows of asks, so that it reads only what has changed. The zero
// value knows nothing. It is one goroutine's.
type Memory struct{ asks map[string]remembered }

type remembered struct {
	ask         *Ask // as it was concluded
	seen        traces
	alive, open bool // claude is, and its hook waited
}

// traces are what tell whether a file and a transcript have changed.
type traces struct {
	written, grown time.Time
	size           int64
}

// All returns the asks that are not closed as they are now, the oldest first. One that cannot be read is left out.
// What it returns is not changed by later calls, and must not be by the caller. m may be nil.
func All(d checkpoints.Dirs, m *Memory) ([]*Ask, error) {
	names, err := ids(d)
	if err != nil {
		return nil, fmt.Errorf("list the questions of sessions: %w", err)
	}
	known := map[string]remembered{}
	var all []*Ask
	for _, id := range names {
		r, err := m.look(d, id)
		if err != nil {
			continue // it has just gone, or is another release's
		}
		known[id] = r
		all = append(all, r.ask)
	}
	if m != nil {
		m.asks = known
	}
	slices.SortStableFunc(all, func(a, b *Ask) int { return a.Questions[0].AskedAt.Compare(b.Questions[0].AskedAt) })
	return all, nil
}

// look returns an ask as it is now: from memory if nothing that says so has changed.
func (m *Memory) look(d checkpoints.Dirs, id string) (remembered, error) {
	file, err := os.Lstat(pathOf(d, id, ".json"))
	if err != nil {
		return remembered{}, err
	}
	now := remembered{seen: traces{written: file.ModTime()}, open: waits(d, id)}
	if m != nil {
		if before, is := m.asks[id]; is {
			now.seen.transcript(before.ask.conversation())
			if now.alive = before.ask.Claude.Alive(); before.seen == now.seen && before.alive == now.alive &&
				before.open == now.open {
				return before, nil
			}
		}
	}
	if now.ask, err = load(d, id); err != nil {
		return now, err
	}
	now.seen.transcript(now.ask.conversation())
	now.alive = now.ask.Claude.Alive()
	now.ask.concludeFrom(Facts{Waits: now.ask.State == Open && now.open, Claude: now.alive}, false)
	return now, nil
}

func (t *traces) transcript(path string) {
	if info, err := os.Stat(path); err == nil {
		t.grown, t.size = info.ModTime(), info.Size()
	}
}

// Waiting reports whether a person can answer the ask: here, or in a supervised run.
func (a *Ask) Waiting() bool { return a.State == Open || a.State == Ended }

// Find returns the ask of a question, closed or not, and the question; nil: there is none.
func Find(d checkpoints.Dirs, question string) (*Ask, *checkpoints.Question) {
	if !strings.HasPrefix(question, checkpoints.QuestionPrefix) {
		question = checkpoints.QuestionPrefix + question
	}
	for _, folder := range []string{Folder(d), closed(d)} {
		names, _ := idsIn(folder) // that they cannot be listed, lists say
		if i := slices.Index(names, question); i > 0 {
			names[0], names[i] = names[i], names[0] // most are the first of their ask
		}
		for _, id := range names {
			a, err := loadIn(folder, id)
			if err != nil {
				continue
			}
			if q := a.question(question); q != nil {
				a.conclude(d)
				return a, q
			}
		}
	}
	return nil, nil
}

// Follow gives an ask as it is, again whenever one of its questions has its answer, and last once nobody waits for any.
// It blocks until then, or until ctx ends. The kernel tells. What each is given it must not change.
func Follow(ctx context.Context, d checkpoints.Dirs, id string, each func(*Ask)) error {
	changes, err := files.NewWatch(func(name string) bool { return name == id+".json" }, Folder(d))
	if err != nil {
		return err
	}
	defer changes.Close()
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	for first := true; ; first = false {
		a, _ := Find(d, id)
		if a == nil {
			return &checkpoints.UnknownError{ID: id}
		}
		if each(a); a.State != Open || ctx.Err() != nil {
			return ctx.Err()
		}
		if first {
			waiting.Go(func() { a.Hook.Wait(ctx); close(gone) })
		}
		select {
		case <-changes.C:
		case <-gone: // the lock went with it
		}
	}
}

// tidy closes asks of which nothing more can become, so that readers need not look at them, and removes those that
// closed long ago, or of very many the oldest. Only a hook does it, at its end. It returns those that nobody waits for.
func tidy(d checkpoints.Dirs, now time.Time) (over []*Ask) {
	all, err := All(d, nil)
	if err != nil {
		return nil
	}
	closed := 0
	for _, a := range slices.Backward(all) {
		if a.State != Open {
			over = append(over, a)
		}
		final := !a.Waiting() && a.concludeFrom(Facts{Claude: a.Claude.Alive()}, true)
		if !a.Waiting() {
			closed++
		}
		forgotten := now.Sub(a.Questions[0].AskedAt) > 5*keepFor
		if !final && !forgotten && closed <= maxClosed {
			continue
		}
		lock := flock.New(pathOf(d, a.ID, ".lock"))
		if got, err := lock.TryLock(); err != nil || !got {
			continue
		}
		if a.Waiting() {
			forget(d, a.ID)
			_ = remove(d, a.ID)
		} else {
			_ = a.archive(d) // else the next does
		}
		_ = lock.Close() // gives it back
	}
	prune(d, now)
	return over
}

// Journal is where is kept what a phone was told of an ask, and beside it who tells has a lock.
func Journal(d checkpoints.Dirs, id string) string { return pathOf(d, id, ".notices") }

// untold reports whether a phone was told of an ask that is open no more, and not that.
func (a *Ask) untold(d checkpoints.Dirs) bool {
	folder, err := files.OpenFolder(Folder(d))
	if err != nil {
		return false
	}
	defer func() { _ = folder.Close() }()                                         // only read
	told, _, _ := files.ReadIn(folder, filepath.Base(Journal(d, a.ID)), maxModes) // most have none
	return bytes.Contains(told, []byte(".asked\n")) && !bytes.Contains(told, []byte(".closed\n"))
}

// prune removes closed asks that are old, or many.
func prune(d checkpoints.Dirs, now time.Time) {
	type file struct {
		id string
		at time.Time
	}
	names, _ := idsIn(closed(d))
	all := make([]file, 0, len(names))
	for _, id := range names {
		if info, err := os.Lstat(filepath.Join(closed(d), id+".json")); err == nil {
			all = append(all, file{id, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return b.at.Compare(a.at) })
	for i, f := range all {
		if i >= maxClosed || now.Sub(f.at) > keepFor {
			_ = os.Remove(filepath.Join(closed(d), f.id+".json"))
			forget(d, f.id)
		}
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
	a.is(Withdrawn)
	for _, q := range a.Questions {
		q.State = checkpoints.QuestionWithdrawn
	}
	return a.archive(d)
}
