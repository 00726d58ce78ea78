package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// The desk knows what is before a person: it follows the state once for all readers, and sends all readers what has
// changed. A reader gets the whole first, and then each change with a number; one that comes back says the last number
// that it has seen, and gets what came after, or the whole again where that is not kept any more (or the server is
// another). Both are under one lock, so nothing is lost between, nor told twice. A change is the whole run or question
// as it is now. A reader that does not take what is told is dropped: it comes back.
const (
	maxKept     = 1000    // changes
	maxKeptSize = 8 << 20 // and their bytes
	maxBehind   = 256     // changes that a reader may be behind
	maxReaders  = 1000    // at once
	freshness   = time.Second
)

// retryAfter is how long a state that cannot be read is left alone.
const retryAfter = 2 * time.Second

// A change is a run, a question or all problems as they are now, in both forms.
type change struct {
	number   int64
	id       string       // what a reader says that has seen it
	name     string       // "run", "question" or "problems"
	run      string       // that it is, or is of
	question string       // that it is; "": it is none
	count    int          // of open questions
	now      view.RunView // a run
	api      []byte       // JSON, in one line
	page     []byte       // JSON, with HTML
}

// A reader is told of changes.
type reader struct {
	changes chan *change // closed when it is dropped
}

type desk struct {
	source service.Service
	shows  *Server // makes HTML of it
	era    string  // of the numbers
	look   chan struct{}

	mu      sync.Mutex
	now     view.Overview
	err     error // the state cannot be read; nil: it can
	number  int64 // of the last change
	kept    []*change
	size    int // of kept, in bytes
	readers map[*reader]bool
	looked  chan struct{} // closed at the next look
	began   bool          // there was one
	ahead   []closedAhead // of the looks
}

func newDesk(source service.Service, shows *Server) *desk {
	return &desk{source: source, shows: shows, era: rand.Text()[:8], look: make(chan struct{}, 1),
		readers: map[*reader]bool{}, looked: make(chan struct{})}
}

// run follows the state until ctx ends. A state that cannot be read is tried again.
func (d *desk) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := d.source.Watch(ctx, d.look, func(o view.Overview) error { d.take(o); return nil })
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the state is no longer followed")
		}
		d.mu.Lock()
		d.err = err
		d.tellProblems([]string{err.Error()})
		d.passed()
		d.mu.Unlock()
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

// passed tells who waits for a look that there was one. The lock is held.
func (d *desk) passed() {
	close(d.looked)
	d.looked, d.began = make(chan struct{}), true
}

// take takes what a look has found, and tells the readers what has changed.
func (d *desk) take(o view.Overview) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.now
	o = d.withoutTold(o)
	first, broken := before.At.IsZero(), d.err != nil
	d.now, d.err = o, nil
	defer d.passed()
	switch {
	case first:
		return
	case broken: // what has ended meanwhile nobody knows: the readers begin anew
		d.era, d.kept, d.size = rand.Text()[:8], nil, 0
		for r := range d.readers {
			d.drop(r)
		}
		return
	}
	if !slices.Equal(before.Problems, o.Problems) {
		d.tellProblems(o.Problems)
	}
	known := map[string]*view.RunView{}
	for i := range before.Runs {
		known[before.Runs[i].ID] = &before.Runs[i]
	}
	for _, v := range o.Runs {
		if was := known[v.ID]; was == nil || !reflect.DeepEqual(*was, v) {
			d.tellRun(v)
		}
	}
	for _, v := range o.Ended {
		d.tellRun(v)
	}
	asked := map[string]*view.QuestionView{}
	for i := range before.Questions {
		asked[before.Questions[i].ID] = &before.Questions[i]
	}
	for i, q := range o.Questions {
		if was := asked[q.ID]; was == nil || !reflect.DeepEqual(*was, q) {
			next := ""
			if i+1 < len(o.Questions) {
				next = o.Questions[i+1].ID
			}
			d.tellQuestion(o, q, next)
		}
	}
	for _, q := range o.Closed {
		d.tellQuestion(o, q, "")
	}
}

// tellProblems tells what is wrong with the state: what is shown of it may be old.
func (d *desk) tellProblems(problems []string) {
	type told struct {
		Problems []string `json:"problems"`
	}
	problems, _ = part(problems, 0, len(problems))
	api := encoded(told{problems})
	for i := range problems {
		problems[i] = d.shows.config.Clean(problems[i])
	}
	d.tell(&change{name: "problems", api: api, page: encoded(told{problems})})
}

func (d *desk) tellRun(v view.RunView) {
	d.tell(&change{name: "run", run: v.ID, now: v, api: encoded(v),
		page: encoded(d.shows.runChange(v, pageAgents))})
}

func (d *desk) tellQuestion(o view.Overview, q view.QuestionView, next string) {
	d.tell(&change{name: "question", run: q.Run, question: q.ID, count: len(o.Questions), api: encoded(inAPI(q)),
		page: encoded(d.shows.questionChange(o, q, next))})
}

// tell numbers a change, keeps it, and hands it to the readers. The lock is held.
func (d *desk) tell(c *change) {
	d.number++
	c.number, c.id = d.number, d.id()
	d.kept, d.size = append(d.kept, c), d.size+len(c.api)+len(c.page)
	for len(d.kept) > maxKept || d.size > maxKeptSize {
		d.size -= len(d.kept[0].api) + len(d.kept[0].page)
		d.kept[0] = nil
		d.kept = d.kept[1:]
	}
	for r := range d.readers {
		select {
		case r.changes <- c:
		default:
			d.drop(r)
		}
	}
}

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("web: %T is not JSON: %v", v, err)) // a bug: they are records of ours
	}
	return text
}

// drop ends a reader. The lock is held.
func (d *desk) drop(r *reader) {
	if d.readers[r] {
		delete(d.readers, r)
		close(r.changes)
	}
}

var errBusy = &refusal{Status: http.StatusServiceUnavailable, Text: "too many look at this page; close some of them"}

// join adds a reader that has seen the changes up to last, as an id says it; missed is what came after. Where that is
// not known, whole is true: the reader needs the overview first, which is that of this moment, after the change at.
func (d *desk) join(last string) (r *reader, whole bool, now view.Overview, at string, missed []*change, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return nil, false, now, "", nil, unreadable(d.err)
	}
	if len(d.readers) >= maxReaders {
		return nil, false, now, "", nil, errBusy
	}
	r = &reader{changes: make(chan *change, maxBehind)}
	d.readers[r] = true
	era, digits, _ := strings.Cut(last, "-")
	seen, wrong := strconv.ParseInt(digits, 10, 64)
	oldest := d.number + 1
	if len(d.kept) > 0 {
		oldest = d.kept[0].number
	}
	if wrong != nil || era != d.era || seen > d.number || seen+1 < oldest {
		return r, true, d.now, d.id(), nil, nil
	}
	return r, false, d.now, d.id(), slices.Clone(d.kept[int(seen+1-oldest):]), nil
}

func (d *desk) leave(r *reader) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(r)
}

// id is what a reader says that has seen the last change. The lock is held.
func (d *desk) id() string { return fmt.Sprintf("%s-%d", d.era, d.number) }

// overview returns what is before a person. It waits for the first look.
func (d *desk) overview(ctx context.Context) (view.Overview, error) {
	now, _, err := d.overviewAt(ctx)
	return now, err
}

// overviewAt is overview, with the id of the last change that is in it.
func (d *desk) overviewAt(ctx context.Context) (now view.Overview, at string, err error) {
	d.mu.Lock()
	began, looked := d.began, d.looked
	d.mu.Unlock()
	if !began {
		select {
		case <-looked:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.now, "", unreadable(d.err)
	}
	return d.now, d.id(), nil
}

// current is overview for who takes it for what is, and not for what was: what was saved before is in it, unless a look
// takes longer than freshness.
func (d *desk) current(ctx context.Context) (view.Overview, error) {
	d.refresh(ctx, nil)
	now, err := d.overview(ctx)
	if err == nil && now.Gone != nil {
		err = unreadable(now.Gone)
	}
	return now, err
}

func unreadable(err error) error {
	return &refusal{Status: http.StatusServiceUnavailable, Text: err.Error()}
}

// refresh waits until a look has seen all that is saved now: whoever has done something sees it done. It does not wait
// longer than that is good for, and not where nothing can be seen. Where seen is given, a look after which it is true
// has seen enough: the kernel has most likely begun one already, and with much to read a second one would cost all
// others as much time. seen is called under the lock.
func (d *desk) refresh(ctx context.Context, seen func() bool) {
	since := time.Now()
	patience := time.NewTimer(freshness)
	defer patience.Stop()
	untold := time.NewTimer(0)
	if seen != nil {
		untold.Reset(freshness / 4)
	}
	defer untold.Stop()
	for again := false; ; {
		d.mu.Lock()
		enough, looked := d.now.At.After(since) || seen != nil && seen(), d.looked
		enough = enough || d.err != nil || again && d.now.Gone != nil
		d.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-untold.C:
			select {
			case d.look <- struct{}{}:
			default: // one is on its way
			}
			untold.Reset(freshness / 4)
		case <-looked:
			again = true
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
