package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A watch tells that some files of one folder may have changed. The kernel tells it: nothing is looked at meanwhile.
// The folder need not exist yet, and may be removed and made anew: then the nearest one above it is watched for its
// return.
type watch struct {
	changed chan struct{} // one value for any number of changes since the last one was received

	kernel *fsnotify.Watcher
	folder string
	mind   func(name string) bool // the files that matter, by their names
	read   sync.WaitGroup
}

// WatchFolder leaves a value in changed, a channel of one, when files of a folder may have changed that matter by their
// names, until stop is called.
func WatchFolder(folder string, changed chan struct{}, mind func(name string) bool) (stop func(), err error) {
	w, err := watchInto(changed, folder, mind)
	if err != nil {
		return nil, err
	}
	return w.close, nil
}

// newWatch begins to watch. What changes after it returns is told of.
func newWatch(folder string, mind func(name string) bool) (*watch, error) {
	return watchInto(make(chan struct{}, 1), folder, mind)
}

func watchInto(changed chan struct{}, folder string, mind func(name string) bool) (*watch, error) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, unwatchable(folder, err)
	}
	w := &watch{changed: changed, kernel: kernel, folder: filepath.Clean(folder), mind: mind}
	if err := w.rewatch(); err != nil {
		return nil, errors.Join(unwatchable(folder, err), kernel.Close())
	}
	w.read.Go(w.listen)
	return w, nil
}

// ErrUnwatchable means that the kernel does not tell of changes.
var ErrUnwatchable = errors.New("cannot be followed")

// unwatchable says what to do where the kernel watches no more for this user.
func unwatchable(folder string, err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf(
			"%w (raise fs.inotify.max_user_instances and max_user_watches, or end other programs that watch files)", err)
	}
	return fmt.Errorf("changes in %s %w: %w; nothing was changed", folder, ErrUnwatchable, err)
}

// rewatch watches the folder or, while that is not there, the nearest one above it that is; and the one above that,
// which alone tells of the end of a folder in which files are still open.
func (w *watch) rewatch() error {
	below := "" // the missing one that path is to show
	for path := w.folder; ; {
		above := filepath.Dir(path)
		outer := w.kernel.Add(above) // it may be closed to us; before path, so that no end of path is missed
		err := w.kernel.Add(path)
		switch {
		case err == nil && errors.Is(outer, fs.ErrNotExist): // both were made in between: once more
		case err == nil && below != "" && exists(below):
			path, below = w.folder, "" // it was made before it was watched for: from the start again
		case err == nil:
			for _, other := range w.kernel.WatchList() {
				if other != path && other != above {
					_ = w.kernel.Remove(other) // fails where it is gone, and with it the watch
				}
			}
			return nil
		case !errors.Is(err, fs.ErrNotExist) || path == above:
			return err
		default:
			below, path = path, above
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// listen ends when close closes the kernel's side.
func (w *watch) listen() {
	for {
		select {
		case e, open := <-w.kernel.Events:
			if !open {
				return
			}
			w.onEvent(e)
		case _, open := <-w.kernel.Errors: // such as too many events at once
			if !open {
				return
			}
			notify(w.changed)
		}
	}
}

func (w *watch) onEvent(e fsnotify.Event) {
	switch {
	case filepath.Dir(e.Name) == w.folder:
		if w.mind(filepath.Base(e.Name)) {
			notify(w.changed)
		}
	case strings.HasPrefix(w.folder+"/", strings.TrimSuffix(e.Name, "/")+"/"): // it, or one above it
		_ = w.kernel.Remove(e.Name) // what is watched under this name may be elsewhere, or removed and still open
		_ = w.rewatch()             // where even that fails, nothing more is told
		notify(w.changed)
	}
}

func (w *watch) close() {
	_ = w.kernel.Close() // it only gives back what it has opened
	w.read.Wait()
}

// notify leaves a value in a channel of one, if it is empty.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a value that has not been received yet says it all
	}
}
