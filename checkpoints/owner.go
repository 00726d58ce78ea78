package checkpoints

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/gofrs/flock"
)

// ErrOwned means that another process supervises the run.
var ErrOwned = errors.New("another process supervises it")

// ownPatience is how long Own tries: readers hold the lock, shared, for an instant when they look.
const (
	ownPatience = time.Second
	ownInterval = 5 * time.Millisecond
)

// An Owner is the right to supervise one run, held by this process. The kernel takes it back when the process ends,
// however it ends; child processes do not inherit it.
type Owner struct{ lock *flock.Flock }

// Own makes this process the owner of a run, and creates the run's folder. It waits for at most a second (ErrOwned).
func (d Dirs) Own(ctx context.Context, run string) (*Owner, error) {
	if !PlainID(run) {
		return nil, fmt.Errorf("own run %q: not an id", files.Shorten(run))
	}
	if err := d.makeState(files.SyncDir); err != nil { // which a busy disk may take long for
		return nil, fmt.Errorf("own run %s: %w", run, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ownPatience, ErrOwned)
	defer cancel()
	for {
		if err := os.MkdirAll(d.RunDir(run), 0o700); err != nil {
			return nil, fmt.Errorf("own run %s: %w", run, err)
		}
		lock := flock.New(d.Lock(run))
		held, err := lock.TryLock()
		if err == nil && !held {
			_, err = lock.TryLockContext(ctx, ownInterval)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // the folder was removed before the file was opened
		} else if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, fmt.Errorf("own run %s: %w", run, err)
		}
		if stillThere(lock) {
			return &Owner{lock}, nil
		}
		// The folder was removed, and perhaps made anew, between the opening of the file and its lock: another process
		// could lock the new one.
		if err := lock.Close(); err != nil {
			return nil, fmt.Errorf("own run %s: %w", run, err)
		}
	}
}

// RemoveRun removes the folder of a run that this process owns, and of which there is no record. Whoever waits to own
// the run finds no folder, never a part of one. A crash may leave it under another run's id that nobody has, as RunDirs
// lists it.
func (d Dirs) RemoveRun(run string) error {
	aside := d.RunDir(NewID(RunPrefix, rand.Reader))
	if err := os.Rename(d.RunDir(run), aside); err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

func stillThere(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(held, found)
}

// Release lets another process own the run. The lock file stays: removing it would let two own the run at once.
func (o *Owner) Release() error { return o.lock.Close() }

// Owned reports whether some process (this one included) owns the run at this instant. A run that was never owned is
// not.
func (d Dirs) Owned(run string) bool {
	if !PlainID(run) {
		return false
	}
	lock := flock.New(d.Lock(run), flock.SetFlag(os.O_RDONLY))
	shared, err := lock.TryRLock()
	if err != nil {
		return false
	}
	_ = lock.Close()
	return !shared
}
