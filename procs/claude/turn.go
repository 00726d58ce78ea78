package claude

import "sync"

// A turn knows whether one is under way.
type turn struct {
	mu   sync.Mutex
	idle chan struct{} // closed between turns
}

func newTurn() *turn {
	t := &turn{idle: make(chan struct{})}
	close(t.idle)
	return t
}

func (t *turn) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.idle:
		t.idle = make(chan struct{})
	default: // the one before was never ended
	}
}

func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.idle:
	default:
		close(t.idle)
	}
}

// over returns a channel that is closed once no turn is under way.
func (t *turn) over() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle
}
