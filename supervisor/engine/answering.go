package engine

import (
	"errors"
	"sync"
	"time"

	"claude-supervise/checkpoints/files"
)

// Some of what an agent names is read at once, by the engine's own goroutine: the state file of a signal, a question
// file, the file that a call is about to change. Such a read opens nothing that could hold it, and yet a disk may not
// answer: a network mount whose server is gone, a file system that the agent itself has mounted. So it is done beside,
// and the engine waits for a moment only.

// answerTime is how long the disk is given for one such read.
const answerTime = 5 * time.Second

var errDiskHangs = errors.New("the disk does not respond")

// An answering is what is known of the disk on which agents name files. Its zero value is ready. While one read hangs
// no other is begun: neither time nor goroutines go to a disk that does not answer.
type answering struct {
	mu    sync.Mutex
	hangs <-chan struct{} // closed when the read that hangs comes back; nil: none does
}

// read returns what do gives, or errDiskHangs.
func read[T any](a *answering, do func() (T, error)) (T, error) {
	var none T
	a.mu.Lock()
	hangs := a.hangs
	a.mu.Unlock()
	select {
	case <-hangs:
	default:
		if hangs != nil {
			return none, errDiskHangs
		}
	}
	var value T
	back, err := files.Within(answerTime, func() (err error) {
		value, err = do()
		return err
	})
	if !errors.Is(err, files.ErrNoResponse) {
		return value, err
	}
	a.mu.Lock()
	a.hangs = back
	a.mu.Unlock()
	return none, errDiskHangs
}

// within waits until do has returned, but no longer than a time. It reports whether do has.
func within(d time.Duration, do func()) bool {
	_, err := files.Within(d, func() error { do(); return nil })
	return err == nil
}
