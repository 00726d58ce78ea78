package files

import (
	"errors"
	"time"
)

// ErrNoResponse means that a disk, or what else was waited for, has not responded in time.
var ErrNoResponse = errors.New("it does not respond")

// Within returns what do returns, or ErrNoResponse once do has taken longer than d: a disk may not respond, such as a
// network mount whose server is gone, and no call of the kernel's can be cancelled then. back is closed when do has
// returned, after that time, too.
func Within(d time.Duration, do func() error) (back <-chan struct{}, err error) {
	over, result := make(chan struct{}), make(chan error, 1)
	// Not waited for: the kernel may hold it for ever.
	go func() {
		defer close(over)
		result <- do()
	}()
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case err := <-result:
		return over, err
	case <-limit.C:
		return over, ErrNoResponse
	}
}
