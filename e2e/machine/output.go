package machine

import (
	"bytes"
	"sync"
)

// Output is what a process has said so far. It can be read while more is written.
type Output struct {
	mu   sync.Mutex
	all  bytes.Buffer
	more chan struct{}
}

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.signal() <- struct{}{}:
	default:
	}
	return o.all.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// More is received from when something was written since it was last received from. One goroutine may do so.
func (o *Output) More() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.signal()
}

func (o *Output) signal() chan struct{} {
	if o.more == nil {
		o.more = make(chan struct{}, 1)
	}
	return o.more
}
