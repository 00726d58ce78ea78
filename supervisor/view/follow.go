package view

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/sessions"
)

// How the changes of runs are noticed, without looking at the database again and again:
//
//   - What a supervisor or a client saves is written to the database's log first, which the kernel tells of. It can be
//     read a moment later, when it is on the disk: until then its writer has the turn of writers, a lock that is waited
//     for.
//   - What a supervisor does not save, its death, frees the lock that made it the owner of its run.
//
// A look once a minute makes up for what a kernel leaves out: a move of the folder, more events than it keeps.
const (
	// rest is the least time between two looks, for databases that change hundreds of times in a second.
	rest = 50 * time.Millisecond
	// writersPatience is how long the end of a transaction is waited for before the look: its writer may be stopped.
	writersPatience = time.Second
)

// Watch gives the runs that have not ended, or all, and gives them again each time something of them has changed, or
// of what is asked by none. It blocks until ctx ends (nil), each gives an error, or the state cannot be read. Where
// there is no state yet it waits for it.
func (r Reader) Watch(ctx context.Context, all bool, each func([]RunView) error) error {
	besides := make(chan struct{}, 1)
	waiting, cancel := context.WithCancel(ctx)
	stop := r.forwardFileChanges(waiting, nil, besides)
	defer stop()
	defer cancel() // first: stop waits for what this ends
	var before []RunView
	var asked []QuestionView
	var memory sessions.Memory
	first := true
	err := r.followBeside(ctx, besides, nil, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		runs, err := now.Runs(ctx, all)
		if err != nil {
			return nil, false, err
		}
		asks, _, _ := now.OfNoRun(ctx, &memory)
		if first || !reflect.DeepEqual(runs, before) || !reflect.DeepEqual(asks, asked) {
			first, before, asked = false, runs, asks
			err = each(runs)
		}
		return runs, true, err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// follow calls see at once and after each change, until it wants no more, fails, or ctx ends, whose cause is then the
// error. See gives the runs whose supervisors' deaths matter to it. Its own context does not end with ctx, so that the
// first look is whole even where there is no time for a second.
func (r Reader) follow(ctx context.Context,
	see func(context.Context, Reader) (runs []RunView, more bool, err error)) error {
	return r.followBeside(ctx, nil, nil, see)
}

// followBeside is follow that looks again for each value of besides, too: something else has changed. It tells gone
// where the database that it has read is not there any more, and waits for it to come back; where gone is nil, that is
// a state without runs.
func (r Reader) followBeside(ctx context.Context, besides <-chan struct{}, gone func(error) error,
	see func(context.Context, Reader) (runs []RunView, more bool, err error)) error {
	database := filepath.Base(r.Dirs.Database())
	saved := func(name string) bool { return name == database || name == database+"-wal" }
	changes, err := files.NewWatch(saved, r.Dirs.State)
	if err != nil {
		return err
	}
	defer changes.Close()
	f := newFollowing(r.Dirs)
	defer f.waits.Wait()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	db := reopening{dirs: r.Dirs}
	defer db.close()
	minute := time.NewTicker(supervisor.PollInterval)
	defer minute.Stop()
	for {
		began := time.Now()
		var runs []RunView
		more, err := true, db.gone()
		if gone != nil && err != nil {
			err = gone(err)
		} else {
			var now Reader
			if now, err = db.reader(); err == nil {
				runs, more, err = see(context.WithoutCancel(ctx), now)
			}
		}
		if err != nil || !more {
			return err
		}
		f.awaitDeaths(waiting, runs)
		took := time.Since(began)
		pause := time.After(max(rest-took, took)) // reading takes at most half of the time
		select {
		case <-changes.C:
			f.awaitWriters(ctx)
		case <-besides:
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
	turn     <-chan struct{} // closed at the end of a transaction that has outlasted our patience; nil: there is none
	waits    sync.WaitGroup  // those goroutines
}

func newFollowing(dirs checkpoints.Dirs) *following {
	return &following{dirs: dirs, patience: writersPatience, held: map[string]bool{}, freed: make(chan string)}
}

// awaitDeaths sends the end of each supervisor to freed, until ctx ends.
func (f *following) awaitDeaths(ctx context.Context, runs []RunView) {
	for _, v := range runs {
		if v.SupervisorPID == 0 || f.held[v.ID] {
			continue
		}
		f.held[v.ID] = true
		f.waits.Go(func() {
			lock := awaitUnlock(f.dirs.Lock(v.ID))
			select {
			case <-lock.over:
			case <-ctx.Done():
				return
			}
			if lock.err != nil {
				return // no such lock on this file system: the look of each minute has to do
			}
			select {
			case f.freed <- v.ID:
			case <-ctx.Done():
			}
		})
	}
}

// awaitWriters waits until what was being written can be read.
func (f *following) awaitWriters(ctx context.Context) {
	if f.turn == nil {
		f.turn = awaitUnlock(f.dirs.State).over // without a lock the look comes early, and one of the next sees all
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

// An unlock is a wait until nobody has a lock exclusively.
type unlock struct {
	over chan struct{} // closed then, and when err is set
	err  error         // the lock cannot be waited for
}

// unlocks are those under way, by the lock's path. A blocking flock cannot be called off, and takes a thread: all who
// wait for one lock share one wait, which may outlive them. It has the lock for an instant, shared.
var unlocks = struct {
	sync.Mutex
	of map[string]*unlock
}{of: map[string]*unlock{}}

func awaitUnlock(path string) *unlock {
	unlocks.Lock()
	defer unlocks.Unlock()
	u := unlocks.of[path]
	if u == nil {
		u = &unlock{over: make(chan struct{})}
		unlocks.of[path] = u
		go u.wait(path) // not waited for: a blocking flock cannot be called off
	}
	return u
}

func (u *unlock) wait(path string) {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	u.err = lock.RLock()
	unlocks.Lock()
	delete(unlocks.of, path) // before it is given back: who comes after the next owner waits for that one
	unlocks.Unlock()
	_ = lock.Close() // gives it back
	close(u.over)
}

// reopening reads the database that is there now: it may be made, or replaced, at any time.
type reopening struct {
	dirs  checkpoints.Dirs
	store *checkpoints.Store
	file  fs.FileInfo // nil: there was none
}

// gone tells that the database that was read is not there any more.
func (o *reopening) gone() error {
	if o.file == nil {
		return nil
	}
	return o.dirs.Gone()
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
