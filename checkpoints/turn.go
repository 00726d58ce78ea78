package checkpoints

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// waitTurn queues this writer behind those of all processes, and gives back what ends its turn. SQLite alone lets writers
// look again after ever longer pauses: with four busy ones a commit took seconds now and then, in the kernel's queue for
// the flock of the state folder it takes its few milliseconds. Only fairness hangs on this, for SQLite's own lock decides:
// so a turn that cannot be had, or does not come in time (its holder may be a stopped process), is done without.
func (s *Store) waitTurn(ctx context.Context) (end func()) {
	turn := flock.New(filepath.Dir(s.path), flock.SetFlag(os.O_RDONLY))
	release := func() { _ = turn.Close() }
	if taken, err := turn.TryLock(); taken || err != nil {
		return release
	}
	came := make(chan struct{})
	go func() { // a blocking flock cannot be called off: this ends when the lock comes
		defer close(came)
		_ = turn.Lock()
	}()
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	select {
	case <-came:
		return release
	case <-ctx.Done():
	case <-patience.C:
	}
	go func() { <-came; release() }()
	return func() {}
}
