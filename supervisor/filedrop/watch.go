package filedrop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// A EventKind is what happened in the folders.
type EventKind string

// What Watch tells.
const (
	AnswerFound EventKind = "answer" // answers/ID.txt has an answer, or another one than it had
	// it is there no more: a script has it, or, with Problem, the whole folder went
	AnswerGone EventKind = "answer gone"
	// pending/ID.json can be read, for the first time or since it changed
	QuestionFound EventKind = "question"
	QuestionGone  EventKind = "question gone" // it is there no more; with Problem, the whole folder went
	Problem       EventKind = "problem"       // something cannot be used, and is left alone
)

// A Event is what Watch tells. Its answer, that of a file that is gone being the last it had, is a stranger's
// text: nothing in it is made safe for a terminal.
type Event struct {
	Kind    EventKind
	ID      string // empty for a problem of a folder, or of a file whose name is no id
	Answer  string
	Differs bool // the bytes in the file are not the answer's: another encoding, or white space around it
	Problem string
	Garbled string // of a problem: why an answer is no text; "": it is something else
}

const (
	folderSettles = time.Second // a folder that was removed is made again after: at once, whoever removes it would stumble
	pollInterval  = time.Second // where the kernel does not tell
)

// errWatched is what the second Watch of a file drop gets.
var errWatched = errors.New("the folders of questions and answers are watched by this process already")

// A dropWatch is one Watch under way.
type dropWatch struct {
	drop    *Folders
	folders map[string]*seenFolder // under the file drop's mutex
	tell    func(Event)

	kernel  *fsnotify.Watcher // nil while it is not asked
	polling bool              // it cannot be asked
	loose   bool              // it is not asked for now (Loosen)
	lost    time.Time         // since when a folder is missing or another; zero: none is
	trouble string            // what was told of the folders last; empty: they can be used
	touched map[string]bool   // paths of files that changed since the last look, though they may look the same
	missed  bool              // others may have, too
}

// Loosen says whether Watch, under way or to come, looks every second and has the kernel tell it nothing. The kernel
// takes 5 to 30 ms to end its watches, whoever gives them back, the end of the process included: who may be gone soon
// does without. It does not block.
func (d *Folders) Loosen(loose bool) {
	for {
		select {
		case d.loosen <- loose:
			return
		case <-d.loosen: // an older word
		}
	}
}

// Watch tells what happens in pending/ and answers/, first what lies there already, until ctx ends: then it returns
// nil, and at once an error if this file drop is watched already. What this file drop itself puts there or removes is
// not told. tell is called by one goroutine, which waits for it, and may use the file drop.
//
// An answer is the first line of its file, without the white space around it, once that line has an end or has not
// changed for a second. A file that is no answer or question is left alone, and a problem once it has been so for five
// seconds. An answer that is gone before it could be read is not told.
//
// The kernel tells of changes. Where it cannot (its limit of watches is reached, the folders are on a network file
// system) that is a problem, and Watch looks every second. Folders that are removed or replaced are made again after a
// second, and what they held is gone; while that fails it is a problem, and tried again every second.
func (d *Folders) Watch(ctx context.Context, tell func(Event)) error {
	w := &dropWatch{drop: d, folders: watchedFolders(), tell: tell, touched: map[string]bool{}}
	d.mu.Lock()
	if d.watched != nil {
		d.mu.Unlock()
		return errWatched
	}
	d.watched = w
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.watched = nil
		d.mu.Unlock()
		w.unwatch()
	}()

	select {
	case w.loose = <-d.loosen:
	default:
	}
	w.rewatch()
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		case e := <-w.changes():
			if !w.read(e) {
				continue
			}
		case err := <-w.failures():
			w.miss(err)
		case loose := <-d.loosen:
			if loose != w.loose {
				w.loose, w.missed = loose, true
				w.rewatch()
			}
		}
		w.readRest()
		if !w.lost.IsZero() && time.Since(w.lost) >= folderSettles {
			w.rewatch()
		}
		events, next := w.poll()
		for _, e := range events {
			if ctx.Err() != nil {
				return nil
			}
			tell(e)
		}
		if look.Stop(); !next.IsZero() {
			look.Reset(time.Until(next))
		}
	}
}

// poll tells what has changed, and when to look again though nothing does; zero: never.
func (w *dropWatch) poll() (events []Event, next time.Time) {
	w.drop.mu.Lock()
	defer w.drop.mu.Unlock()
	now := time.Now()
	for _, name := range []string{pendingFolder, answersFolder} {
		f := w.folders[name]
		if f.removed {
			events = append(events, f.loseAll()...)
		}
		path, err := w.drop.standing(name)
		if err == nil {
			var more []Event
			var again time.Time
			more, again, err = f.look(path, w.changed, now)
			events, next = append(events, more...), earlier(next, again)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, files.ErrUnsafeDir), errors.Is(err, unix.ENOTDIR):
			events = append(events, f.loseAll()...)
		default:
			events = append(events, w.troubled(fmt.Errorf("the folder %s cannot be read: %w", name, err))...)
		}
		if w.lost.IsZero() {
			w.lost = now
		}
	}
	clear(w.touched)
	w.missed = false
	if !w.lost.IsZero() {
		next = earlier(next, w.lost.Add(folderSettles))
	}
	if w.polling || w.loose {
		next = earlier(next, now.Add(pollInterval))
	}
	return events, next
}

// troubled tells of a problem of the folders, once while it lasts.
func (w *dropWatch) troubled(err error) []Event {
	if err.Error() == w.trouble {
		return nil
	}
	w.trouble = err.Error()
	return []Event{{Kind: Problem, Problem: w.trouble}}
}
