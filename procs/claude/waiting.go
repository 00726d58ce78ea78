package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"claude-supervise/procs"
)

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

	hook json.RawMessage // of the hook before a call: byVerdict; nil: it is a request to permit one

	server   string   // that asks: byElicit
	gathered []string // the requests that are answered with it; the id is our own then
}

// A waiting holds the requests of a child that wait, oldest first. Its zero value is empty.
type waiting struct {
	mu      sync.Mutex
	all     []request
	leaders int // how many ids of our own there were
}

// add fails with errTooMany or errTwice.
func (w *waiting) add(r request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.addLocked(r)
}

func (w *waiting) addLocked(r request) error {
	switch {
	case slices.ContainsFunc(w.all, func(old request) bool {
		return old.id == r.id || slices.Contains(old.gathered, r.id)
	}):
		return errTwice
	case len(w.all) >= maxWaiting:
		return errTooMany
	}
	w.all = append(w.all, r)
	return nil
}

// elicit lets what a server asks wait, and returns the id to ask it by: its own, or, of the first that is beyond
// maxElicited, one of ours, under which all are answered that are beyond; "" of a further one of those. It fails as add
// does.
func (w *waiting) elicit(id, server string) (as string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, of, leader := request{id: id, how: byElicit, server: server}, 0, -1
	for i, old := range w.all {
		switch {
		case old.server != server:
		case old.gathered != nil:
			leader = i
		default:
			of++
		}
	}
	switch {
	case of < maxElicited && leader < 0:
		return id, w.addLocked(r)
	case leader < 0:
		w.leaders++
		r.id, r.gathered = fmt.Sprintf("gathered-%d", w.leaders), []string{id}
		return r.id, w.addLocked(r)
	case slices.Contains(w.all[leader].gathered, id):
		return "", errTwice
	case len(w.all[leader].gathered) >= maxGathered:
		return "", errTooMany
	}
	w.all[leader].gathered = append(w.all[leader].gathered, id)
	return "", nil
}

// withdraw forgets a request that the child has taken back, and returns the id that nobody waits for any more by that:
// its own, or that under which it was the last; "" if others wait under it.
func (w *waiting) withdraw(id string) (gone string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range slices.Backward(w.all) {
		at := slices.Index(r.gathered, id)
		switch {
		case r.id == id || at == 0 && len(r.gathered) == 1:
			w.all = slices.Delete(w.all, i, i+1)
			return r.id
		case at >= 0:
			w.all[i].gathered = slices.Delete(r.gathered, at, at+1)
			return ""
		}
	}
	return id
}

// take returns the newest request of which is true, and forgets it.
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

// onPerson reports whether a request waits that a person may have to answer.
func (w *waiting) onPerson() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.all, func(r request) bool { return r.how != byGate })
}

// answer takes a request that is answered in this way. The error is ErrNotWaiting.
func (w *waiting) answer(id string, how answering) (request, error) {
	r, ok := w.take(func(r request) bool { return r.id == id && r.how == how })
	if !ok {
		return request{}, procs.ErrNotWaiting
	}
	return r, nil
}

// admit lets a request of the child wait, or refuses it. It runs on the goroutine that reads the child.
func (d *dialogue) admit(r request, refuse func(why string)) bool {
	err := d.waiting.add(r)
	switch {
	case err == nil:
		return true
	case errors.Is(err, errTwice):
		d.twice(r.id)
	default:
		refuse(err.Error())
		if !d.flooded {
			d.flooded = true
			d.Tell(procs.Activity{Text: "claude asks for more than is let wait at once; what is beyond is refused"})
		}
	}
	return false
}

// twice tells of a request under an id that waits. An answer would be taken for that of the first.
func (d *dialogue) twice(id string) {
	d.Tell(procs.Activity{Text: fmt.Sprintf("claude asks again under an id that waits: %.60q", id)})
}
