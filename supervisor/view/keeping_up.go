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

// until calls look at once and each time the log has grown, and tells those that wait when all that had been printed
// was given, until over is closed (all that will be printed is in the file then), look fails, or ctx ends, whose cause
// is then the error.
func (k KeepingUp) until(ctx context.Context, over, grown <-chan struct{}, look func() error) error {
	if k.over != nil {
		defer close(k.over)
	}
	for asked := (chan struct{})(nil); ; {
		if err := look(); err != nil {
			return err
		}
		if asked != nil {
			close(asked)
			asked = nil
		}
		select {
		case <-grown:
		case asked = <-k.asked:
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
