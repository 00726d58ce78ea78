package procs

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrNotWaiting says that nothing waits for an answer: it was given before, or withdrawn, or never asked for. Nothing
// was written.
var ErrNotWaiting = errors.New("nothing waits for this answer")

// maxWaiting is how many requests of a child wait for answers at once. What it asks beyond is refused.
const maxWaiting = 256

// Why a request is not let wait.
var (
	errTooMany = errors.New("too many questions wait for their answers; ask again when some of them are answered")
	errTwice   = errors.New("another request with this id waits")
)

// An answering is what answers a request.
type answering uint8

const (
	byVerdict answering = iota // Allow, Deny
	byGate                     // Gate
	byReturn                   // Return
	byElicit                   // Elicit
)

// A request of the child waits for its answer.
type request struct {
	id  string // of the control request
	how answering
	rpc rpcID // of the request in it: byReturn
}

// A waiting holds the requests of a child that wait, oldest first. Its zero value is empty.
type waiting struct {
	mu  sync.Mutex
	all []request
}

// add fails with errTooMany or errTwice.
func (w *waiting) add(r request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case slices.ContainsFunc(w.all, func(old request) bool { return old.id == r.id }):
		return errTwice
	case len(w.all) >= maxWaiting:
		return errTooMany
	}
	w.all = append(w.all, r)
	return nil
}

// take gives the newest request of which is true, and forgets it.
func (w *waiting) take(which func(request) bool) (r request, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range slices.Backward(w.all) {
		if which(r) {
			w.all = slices.Delete(w.all, i, i+1)
			return r, true
		}
	}
	return request{}, false
}

// answer takes a request that is answered in this way. The error is ErrNotWaiting.
func (w *waiting) answer(id string, how answering) (request, error) {
	r, ok := w.take(func(r request) bool { return r.id == id && r.how == how })
	if !ok {
		return request{}, ErrNotWaiting
	}
	return r, nil
}

// admit lets a request of the child wait, or refuses it. It runs on the goroutine that reads the child.
func (p *Process) admit(r request, refuse func(why string)) bool {
	err := p.waiting.add(r)
	switch {
	case err == nil:
		return true
	case errors.Is(err, errTwice):
		p.twice(r.id)
	default:
		refuse(err.Error())
		if !p.flooded {
			p.flooded = true
			p.tell(Activity{Text: "claude asks for more than is let wait at once; what is beyond is refused"})
		}
	}
	return false
}

// twice tells of a request under an id that waits. An answer would be taken for that of the first.
func (p *Process) twice(id string) {
	p.tell(Activity{Text: fmt.Sprintf("claude asks again under an id that waits: %.60q", id)})
}
