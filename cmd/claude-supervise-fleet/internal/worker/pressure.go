package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
)

// A worker takes fewer runs than it may while its machine or the API has too little room for those that it has, as a
// run has fewer agents at work: half as many, one at least, and after each calm one more again. It takes none while a
// usage limit of the account lasts that one of its runs has met. Runs that it has stay.

// A memory says when the machine has too little of it (host.Machine).
type memory interface {
	// WatchMemory calls short whenever memory is short, until ctx ends or the kernel says nothing of it.
	WatchMemory(ctx context.Context, short func())
	ShortOfMemory() bool
}

// A usageLimit is one of the account with which this machine's claude is logged in.
type usageLimit struct {
	until time.Time
	words string // the API's
}

// most is how many runs there may be in this moment. r.mu is held.
func (r *room) most(now time.Time) int {
	for _, l := range r.limits {
		if now.Before(l.until) {
			return 0
		}
	}
	if r.disk() {
		return 0
	}
	if p := r.pressure; p != nil {
		return min(p.Parallel, r.places)
	}
	return r.places
}

// press notes that the runs there are press the machine or the API; by says which.
func (r *room) press(by string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := supervisor.Press(r.pressure, r.had, by, time.Now()); p != nil {
		r.pressure = p
		r.hasNews()
	}
}

// refused notes that the API has refused a request of an agent, with an HTTP status.
func (r *room) refused(agent string, status int) {
	if !supervisor.WantsRoom(status) {
		return
	}
	r.mu.Lock()
	several := r.refusals.Refused(agent, time.Now())
	r.mu.Unlock()
	if several {
		r.press(supervisor.APIRefuses)
	}
}

// limited notes the usage limit that a run has met here; nil: it goes on, so that limit has ended.
func (r *room) limited(run string, until *time.Time, words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.limits[run]
	switch {
	case until == nil && known:
		delete(r.limits, run)
	case until != nil && (!known || !before.until.Equal(*until)):
		r.limits[run] = usageLimit{*until, words}
	default:
		return
	}
	r.hasNews()
}

// hasNews has watch look. r.mu is held.
func (r *room) hasNews() {
	select {
	case r.news <- struct{}{}:
	default: // it was told, and has not looked yet
	}
}

// asksAgain has queues look whether there is a place. r.mu is held.
func (r *room) asksAgain() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// watch has there be as many places as memory and the API allow, and tells it, until ctx ends.
func (r *room) watch(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	short := make(chan struct{}, 1)
	watching.Go(func() {
		r.memory.WatchMemory(ctx, func() {
			select {
			case short <- struct{}{}:
			default: // it is known, and nobody has looked yet
			}
		})
	})
	for {
		look := time.NewTimer(r.settles(time.Now()))
		select {
		case <-look.C:
			if r.memory.ShortOfMemory() {
				r.press(supervisor.MemoryShort)
			}
		case <-short:
			r.press(supervisor.MemoryShort)
		case <-r.news:
		case <-ctx.Done():
			return
		}
		look.Stop()
	}
}

// settles lets there be more runs after a calm and once limits have ended, tells what has changed, and returns how long
// nothing changes by itself, at most PressAgain: the machine's clock may be set.
func (r *room) settles(now time.Time) (rest time.Duration) {
	r.mu.Lock()
	rest = supervisor.PressAgain
	if p := r.pressure; p != nil {
		if !now.Before(p.At.Add(supervisor.Calm)) {
			r.pressure = supervisor.Ease(*p, r.places, now)
		}
		if r.pressure != nil {
			rest = min(rest, r.pressure.At.Add(supervisor.Calm).Sub(now))
		}
	}
	for run, l := range r.limits {
		if !now.Before(l.until) {
			delete(r.limits, run)
			continue
		}
		rest = min(rest, l.until.Sub(now))
	}
	says := r.inWords(now)
	same := says == r.said
	if !same {
		r.said = says
		r.asksAgain()
		if says == "" {
			says = fmt.Sprintf("takes up to %s again", text.Plural(r.places, "run", "runs"))
		}
	}
	r.mu.Unlock()
	if !same {
		r.told(says)
	}
	return rest
}

// inWords says why there may be fewer runs than there are places; "": there may be as many. r.mu is held.
func (r *room) inWords(now time.Time) string {
	var last usageLimit
	for _, l := range r.limits {
		if l.until.After(now) && l.until.After(last.until) {
			last = l
		}
	}
	p := r.pressure
	switch {
	case !last.until.IsZero():
		return fmt.Sprintf("takes no further runs until %s: %s", last.until.UTC().Format(time.RFC3339), last.words)
	case r.disk():
		return "takes no further runs for now: its disk is full"
	case p == nil:
		return ""
	}
	return fmt.Sprintf("has up to %s at a time for now: %s", text.Plural(p.Parallel, "run", "runs"), p.By)
}

// saysOfRoom logs how many runs there may be, and has it told of the runs that this worker has.
func (w *Worker) saysOfRoom(text string) {
	w.Log.Warn("the worker " + text)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		h.note("its worker %s %s", w.Name, text)
		h.hasNews()
	}
}

// refusalIn returns the agent and the HTTP status of a refusal by the API that an event of a run tells of; 0: it tells
// of none.
func refusalIn(event []byte) (agent string, status int) {
	if !bytes.Contains(event, []byte(`"api_status":`)) {
		return "", 0
	}
	var e struct {
		Run       string `json:"run"`
		Agent     string `json:"agent"`
		APIStatus int    `json:"api_status"`
	}
	if json.Unmarshal(event, &e) != nil {
		return "", 0
	}
	return e.Run + "/" + e.Agent, e.APIStatus
}
