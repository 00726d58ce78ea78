package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A Watch tells that some files of some folders may have changed. The kernel tells it: nothing is looked at meanwhile.
// The folders need not exist yet, and may be removed and made again: then the nearest one above is watched for its
// return.
type Watch struct {
	C chan struct{} // one value for any number of changes since the last one was received

	kernel  *fsnotify.Watcher
	folders []string
	mind    func(name string) bool // the files that matter, by their names
	read    sync.WaitGroup
}

// NewWatch begins to watch folders, for the files that matter by their names. What changes after it returns is told of.
// The error is ErrUnwatchable.
func NewWatch(mind func(name string) bool, folders ...string) (*Watch, error) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, unwatchable(folders, err)
	}
	w := &Watch{C: make(chan struct{}, 1), kernel: kernel, mind: mind}
	for _, folder := range folders {
		w.folders = append(w.folders, filepath.Clean(folder))
	}
	if err := w.rewatch(); err != nil {
		return nil, errors.Join(unwatchable(folders, err), kernel.Close())
	}
	w.read.Go(w.listen)
	return w, nil
}

// ErrUnwatchable means that the kernel does not tell of changes.
var ErrUnwatchable = errors.New("cannot be followed")

// unwatchable says what to do where the kernel watches no more for this user.
func unwatchable(folders []string, err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf(
			"%w (raise fs.inotify.max_user_instances and max_user_watches, or end other programs that watch files)", err)
	}
	return fmt.Errorf("changes in %s %w: %w; nothing was changed", strings.Join(folders, ", "), ErrUnwatchable, err)
}

// rewatch watches the folders or, where one is not there, the nearest one above it that is; and the one above that,
// which alone tells of the end of a folder in which files are still open.
func (w *Watch) rewatch() error {
	var wanted []string
	for _, folder := range w.folders {
		path, err := w.watchNearest(folder)
		if err != nil {
			return err
		}
		wanted = append(wanted, path, filepath.Dir(path))
	}
	for _, other := range w.kernel.WatchList() {
		if !slices.Contains(wanted, other) {
			_ = w.kernel.Remove(other) // fails where it is gone, and with it the watch
		}
	}
	return nil
}

// watchNearest watches a folder or the nearest one above it that is there, and returns that.
func (w *Watch) watchNearest(folder string) (string, error) {
	below := "" // the missing one that path is to show
	for path := folder; ; {
		above := filepath.Dir(path)
		outer := w.kernel.Add(above) // it may be closed to us; before path, so that no end of path is missed
		err := w.kernel.Add(path)
		switch {
		case err == nil && errors.Is(outer, fs.ErrNotExist): // both were made in between: once more
		case err == nil && below != "" && exists(below):
			path, below = folder, "" // it was made before it was watched for: from the start again
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist) || path == above:
			return "", err
		default:
			below, path = path, above
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// listen ends when Close closes the kernel's side.
func (w *Watch) listen() {
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
			w.Notify()
		}
	}
}

func (w *Watch) onEvent(e fsnotify.Event) {
	for _, folder := range w.folders {
		switch {
		case filepath.Dir(e.Name) == folder:
			if w.mind(filepath.Base(e.Name)) {
				w.Notify()
			}
		case strings.HasPrefix(folder+"/", strings.TrimSuffix(e.Name, "/")+"/"): // it, or one above it
			_ = w.kernel.Remove(e.Name) // what is watched under this name may be elsewhere, or removed and still open
			_ = w.rewatch()             // where even that fails, nothing more is told
			w.Notify()
			return
		}
	}
}

// Close ends the watch.
func (w *Watch) Close() {
	_ = w.kernel.Close() // it only gives back what it has opened
	w.read.Wait()
}

// Notify leaves a value in C, if it is empty.
func (w *Watch) Notify() {
	select {
	case w.C <- struct{}{}:
	default: // a value that has not been received yet says it all
	}
}
