package checkpoints

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A queued is a place in the kernel's queue for the flock of the state folder. A blocking flock cannot be called off,
// and takes a thread: whoever gives up leaves the place, and the next writer of the Store takes it. So a Store has one
// at most.
type queued struct {
	came   chan *flock.Flock // the lock, to a writer that waits for it
	missed chan struct{}     // closed when the lock came and no writer waited: it was given back
}

func enqueue(turn *flock.Flock) *queued {
	q := &queued{make(chan *flock.Flock), make(chan struct{})}
	// Not waited for: a blocking flock cannot be called off.
	go func() {
		_ = turn.Lock()
		select {
		case q.came <- turn:
		default:
			_ = turn.Close()
			close(q.missed)
		}
	}()
	return q
}

// waitTurn queues this writer behind those of all processes, and returns what ends its turn. SQLite alone lets writers
// look again after ever longer pauses: with four busy ones a commit took seconds now and then, in the kernel's queue
// for the flock of the state folder it takes its few milliseconds. Only fairness hangs on this, for SQLite's own lock
// decides: so a turn that cannot be had, or does not come in time (its holder may be a stopped process), is done
// without. The caller holds s.mu.
func (s *Store) waitTurn(ctx context.Context) (end func()) {
	release := func(turn *flock.Flock) func() { return func() { _ = turn.Close() } }
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	for {
		if s.queued == nil {
			turn := flock.New(filepath.Dir(s.path), flock.SetFlag(os.O_RDONLY))
			if taken, err := turn.TryLock(); taken || err != nil {
				return release(turn)
			}
			s.queued = enqueue(turn)
		}
		select {
		case turn := <-s.queued.came:
			s.queued = nil
			return release(turn)
		case <-s.queued.missed:
			s.queued = nil
		case <-ctx.Done():
			return func() {}
		case <-patience.C:
			return func() {}
		}
	}
}
