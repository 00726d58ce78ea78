package view

import "context"

// KeepingUp lets others wait for whoever follows a log. What is saved of a run was printed before: shown after such a
// wait, it stands behind what led to it. The zero value waits for nobody.
type KeepingUp struct {
	asked chan chan struct{}
	over  chan struct{} // closed when nobody follows any more
}

// NewKeepingUp is for one call of Follow, which has to come: until it does, Wait blocks.
func NewKeepingUp() KeepingUp {
	return KeepingUp{asked: make(chan chan struct{}), over: make(chan struct{})}
}

// Wait blocks until all that had been printed when it was called was given, nobody follows any more, or ctx ends.
func (k KeepingUp) Wait(ctx context.Context) {
	if k.asked == nil {
		return
	}
	done := make(chan struct{})
	select {
	case k.asked <- done:
	case <-k.over:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-k.over:
	case <-ctx.Done():
	}
}

func (k KeepingUp) leave() {
	if k.over != nil {
		close(k.over)
	}
}
