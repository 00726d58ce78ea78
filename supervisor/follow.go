package supervisor

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
)

// How the changes of runs are noticed, without looking at the database again and again:
//
//   - What a supervisor or a client saves is written to the database's log first, which the kernel tells of. It can be
//     read a moment later, when it is on the disk: until then its writer has the turn of writers, a lock that is waited for.
//   - What a supervisor does not save, its death, frees the lock that made it the owner of its run.
//
// A look once a minute makes up for what a kernel leaves out: a move of the folder, more events than it keeps.
const (
	// rest is the least time between two looks, for databases that change hundreds of times in a second.
	rest = 50 * time.Millisecond
	// writersPatience is how long the end of a transaction is waited for before the look: its writer may be stopped.
	writersPatience = time.Second
)

// Watch gives the runs that have not ended, or all, and gives them again each time something of them has changed. It
// blocks until ctx ends (nil), each gives an error, or the state cannot be read. Where there is no state yet it waits
// for it.
func (r Reader) Watch(ctx context.Context, all bool, each func([]RunView) error) error {
	var before []RunView
	first := true
	err := r.follow(ctx, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		runs, err := now.Runs(ctx, all)
		if err != nil {
			return nil, false, err
		}
		if first || !reflect.DeepEqual(runs, before) {
			first, before = false, runs
			err = each(runs)
		}
		return runs, true, err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// follow calls see at once and after each change, until it wants no more, fails, or ctx ends, whose cause is then the error.
// See gives the runs whose supervisors' deaths matter to it. Its own context does not end with ctx, so that the first look is
// whole even where there is no time for a second.
func (r Reader) follow(ctx context.Context, see func(context.Context, Reader) (runs []RunView, more bool, err error)) error {
	database := filepath.Base(r.Dirs.Database())
	changes, err := newWatch(r.Dirs.State, func(name string) bool { return name == database || name == database+"-wal" })
	if err != nil {
		return err
	}
	defer changes.close()
	f := newFollowing(r.Dirs)
	defer close(f.done)
	db := reopening{dirs: r.Dirs}
	defer db.close()
	minute := time.NewTicker(look)
	defer minute.Stop()
	for {
		began := time.Now()
		now, err := db.reader()
		if err != nil {
			return err
		}
		runs, more, err := see(context.WithoutCancel(ctx), now)
		if err != nil || !more {
			return err
		}
		f.awaitDeaths(runs)
		took := time.Since(began)
		pause := time.After(max(rest-took, took)) // reading takes at most half of the time
		select {
		case <-changes.changed:
			f.awaitWriters(ctx)
		case <-f.turn:
			f.turn = nil
		case run := <-f.freed:
			delete(f.held, run)
		case <-minute.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-pause:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// following is what one follow waits for besides the files.
type following struct {
	dirs     checkpoints.Dirs
	patience time.Duration   // with a transaction
	held     map[string]bool // the runs whose lock a goroutine waits for
	freed    chan string     // the runs whose supervisors have gone
	turn     chan struct{}   // closed at the end of a transaction that has outlasted our patience; nil: there is none
	done     chan struct{}   // closed when nobody listens any more
}

func newFollowing(dirs checkpoints.Dirs) *following {
	return &following{
		dirs: dirs, patience: writersPatience, held: map[string]bool{}, freed: make(chan string), done: make(chan struct{}),
	}
}

// awaitDeaths sees to it that the end of each supervisor is told. A blocking flock cannot be called off: its goroutine, and
// the thread in it, may outlive the following, until the supervisor's end. It has the lock for an instant, shared.
func (f *following) awaitDeaths(runs []RunView) {
	for _, v := range runs {
		if v.SupervisorPID == 0 || f.held[v.ID] {
			continue
		}
		f.held[v.ID] = true
		go func() {
			if throughLock(f.dirs.Lock(v.ID)) != nil {
				return // no such lock on this file system: the look of each minute has to do
			}
			select {
			case f.freed <- v.ID:
			case <-f.done:
			}
		}()
	}
}

// awaitWriters waits until what was being written can be read.
func (f *following) awaitWriters(ctx context.Context) {
	if f.turn == nil {
		f.turn = make(chan struct{})
		go func(over chan struct{}) {
			defer close(over)
			_ = throughLock(f.dirs.State) // without it the look comes early, and one of the next sees all
		}(f.turn)
	}
	patience := time.NewTimer(f.patience)
	defer patience.Stop()
	select {
	case <-f.turn:
		f.turn = nil
	case <-patience.C:
	case <-ctx.Done():
	}
}

// throughLock waits until nobody has the lock exclusively.
func throughLock(path string) error {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	err := lock.RLock()
	_ = lock.Close() // gives it back
	return err
}

// reopening reads the database that is there now: it may be made, or replaced, at any time.
type reopening struct {
	dirs  checkpoints.Dirs
	store *checkpoints.Store
	file  fs.FileInfo // nil: there was none
}

func (o *reopening) reader() (Reader, error) {
	file, err := os.Stat(o.dirs.Database())
	if err != nil {
		file = nil // the opening says what is wrong with it
	}
	same := file == nil && o.file == nil || file != nil && o.file != nil && os.SameFile(file, o.file)
	if o.store == nil || !same {
		o.close()
		if o.store, err = checkpoints.OpenReadOnly(o.dirs); err != nil {
			return Reader{}, err
		}
		o.file = file // as it was before the opening: at the worst it is opened twice
	}
	return Reader{Dirs: o.dirs, Store: o.store}, nil
}

func (o *reopening) close() {
	if o.store != nil {
		_ = o.store.Close() // only read
		o.store = nil
	}
}
