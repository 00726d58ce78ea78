package filedrop

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// changes and failures are nil, and so never tell, while the kernel is not asked.
func (w *dropWatch) changes() <-chan fsnotify.Event {
	if w.kernel == nil {
		return nil
	}
	return w.kernel.Events
}

func (w *dropWatch) failures() <-chan error {
	if w.kernel == nil {
		return nil
	}
	return w.kernel.Errors
}

func (w *dropWatch) unwatch() {
	if w.kernel != nil {
		_ = w.kernel.Close() // it only gives back what it has opened
		w.kernel = nil
	}
}

// rewatch makes the folders where they are not there, and has the kernel watch them, and those above them that tell of
// their end. A watch of a folder that is removed, or was moved, is of no use to one of its name, so that all begins
// afresh.
func (w *dropWatch) rewatch() {
	w.unwatch()
	w.lost = time.Time{}
	paths := []string{w.drop.claude, w.drop.at("questions")}
	for name := range w.folders {
		path, err := w.drop.folder(name)
		if err != nil {
			w.lose(w.troubled(fmt.Errorf("the folder %s cannot be used: %w", name, err))...)
			return
		}
		paths = append(paths, path)
	}
	w.trouble = ""
	if w.polling || w.loose {
		return
	}
	switch err := w.watch(paths); {
	case errors.Is(err, fs.ErrNotExist): // removed again
		w.lose()
	case err != nil:
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENOSPC) {
			err = fmt.Errorf("%w (raise fs.inotify.max_user_instances and max_user_watches)", err)
		}
		w.polling = true
		w.unwatch()
		w.tell(Event{Kind: Problem, Problem: fmt.Sprintf(
			"changes of the folders for questions and answers cannot be followed: %v; they are checked every second", err)})
	}
}

func (w *dropWatch) watch(paths []string) (err error) {
	if on, err := files.NetworkFS(w.drop.claude); err == nil && on != "" {
		return fmt.Errorf("%s is on %s", w.drop.claude, on)
	}
	if w.kernel, err = w.drop.kernel(); err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.kernel.Add(path); err != nil {
			return err
		}
	}
	return nil
}

// lose has the folders made and watched again after a while.
func (w *dropWatch) lose(events ...Event) {
	w.unwatch()
	w.lost = time.Now()
	for _, e := range events {
		w.tell(e)
	}
}

// read reports whether a change is a reason to look.
func (w *dropWatch) read(e fsnotify.Event) bool {
	for name, f := range w.folders {
		path := w.drop.at(name)
		if filepath.Dir(e.Name) == path {
			if file := filepath.Base(e.Name); file[0] == '.' || !strings.HasSuffix(file, f.suffix) {
				return false
			}
			w.touched[e.Name] = true
			return true
		}
		if e.Has(fsnotify.Remove|fsnotify.Rename|fsnotify.Create) && (e.Name == path || strings.HasPrefix(path, e.Name+"/")) {
			f.removed = true
			if w.lost.IsZero() {
				w.lost = time.Now()
			}
		}
	}
	return !w.lost.IsZero()
}

// readRest reads what else the kernel tells already, so that one look serves all of it.
func (w *dropWatch) readRest() {
	for range dropNamesMost {
		select {
		case e := <-w.changes():
			w.read(e)
		default:
			return
		}
	}
}

// miss takes what the kernel's side says of itself: that there were too many changes at once, or that it has broken.
func (w *dropWatch) miss(err error) {
	w.missed = true
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.lose()
	}
}

// changed reports whether a file has changed since the last look, whatever it looks like.
func (w *dropWatch) changed(path string) bool { return w.missed || w.touched[path] }
