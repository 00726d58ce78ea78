package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"sync"
	"time"

	"go.temporal.io/sdk/workflow"

	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/supervisor/view"
)

// The log of a run that this worker has is read by people elsewhere, in pieces that they ask for (package runlog). For
// each of them a logReader reads ahead, as far as maxAhead.

const (
	maxAhead     = 1 << 20                // bytes of entries that nobody has asked for yet
	forgetReader = time.Minute            // after its last Ask
	lookAgain    = 100 * time.Millisecond // whether a supervisor has begun, or has ended
)

// readsLog is the workflow by which somebody reads the log of a run: its queries are all that it is for.
func (w *Worker) readsLog(ctx workflow.Context, run string, epoch int) error {
	reader := workflow.GetInfo(ctx).WorkflowExecution.ID
	return workflow.SetQueryHandler(ctx, runlog.Query, func(a runlog.Ask) (runlog.Reply, error) {
		return w.log(reader, run, epoch, a), nil
	})
}

// log answers an Ask. It blocks for as long as runlog.Within, where there is nothing to tell.
func (w *Worker) log(reader, run string, epoch int, a runlog.Ask) runlog.Reply {
	h, err := w.has(run, epoch)
	if err != nil {
		return runlog.Reply{Gone: true}
	}
	w.mu.Lock()
	r := w.readers[reader]
	if a.Open != nil && (r == nil || a.After == 0 && a.Skip == 0) {
		if r != nil { // whose first reply was lost
			r.ends()
		}
		var ctx context.Context
		r, ctx = newLogReader(*a.Open, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.readers, reader)
		})
		w.readers[reader] = r
		r.begins(ctx, h)
	}
	w.mu.Unlock()
	if r == nil {
		return runlog.Reply{Unknown: true}
	}
	return r.reply(a)
}

// A logReader reads the log of a run for somebody elsewhere.
type logReader struct {
	h      *held
	ends   context.CancelFunc
	forget *time.Timer

	mu      sync.Mutex
	place   runlog.Place // of what was read
	tail    int          // how many of the last entries are kept until all that was there was read; -1: all
	caught  bool         // that is so
	over    bool         // the worker has left the run, and everything was read
	broken  bool         // it cannot be read any more
	entries []runlog.Numbered
	before  int64 // the number of the entry before them
	size    int   // of them, in bytes
	left    map[string]runlog.Read
	changed chan struct{} // closed at each change
}

// newLogReader returns a reader that nobody reads for yet, and the context that ends when it is forgotten.
func newLogReader(o runlog.Open, forgotten func()) (*logReader, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &logReader{place: o.Place.Clone(), tail: o.Tail, changed: make(chan struct{})}
	r.forget = time.AfterFunc(forgetReader, func() { cancel(); forgotten() })
	r.ends = func() { cancel(); r.forget.Stop() }
	return r, ctx
}

// begins begins to read the log of a run, until the worker has left the run or ctx ends.
func (r *logReader) begins(ctx context.Context, h *held) {
	r.h = h
	// Not waited for: it ends with ctx, when it is forgotten or the worker leaves.
	go func() {
		err := r.read(ctx)
		r.changes(func() { r.over, r.broken = err == nil, err != nil })
	}()
}

func (r *logReader) changes(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// read reads the log until the supervisor has ended and all was read, or ctx ends.
func (r *logReader) read(ctx context.Context) error {
	for {
		p, err := r.h.supervisorOf(ctx)
		if err != nil {
			return err
		}
		ended := false
		if p != nil {
			select {
			case <-p.ended:
				ended = true
			default:
			}
		}
		if err := r.pass(ctx, p != nil && !ended); err != nil {
			return err
		}
		if ended {
			r.changes(func() { r.caught = true })
			return nil
		}
		select {
		case <-time.After(lookAgain):
		case <-r.h.gone:
			return errLost
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pass reads the log from its beginning on: as far as it goes or, if it is followed, as long as the run is supervised.
func (r *logReader) pass(ctx context.Context, follow bool) error {
	c, err := r.h.opened()
	if err != nil || c == nil {
		return err
	}
	log, err := c.Reader().RunLog(ctx, r.h.Task.Run)
	if view.NoSuchID(err) { // yet
		return nil
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	reading := r.place.Reading()
	r.mu.Unlock()
	each := func(l view.LogLine) error {
		for _, e := range entriesOf(l) {
			if err := r.add(ctx, reading, e); err != nil {
				return err
			}
		}
		return nil
	}
	if !follow {
		err := log.Each(ctx, each)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	log.KeepingUp = view.NewKeepingUp()
	caught, cancel := context.WithCancel(ctx)
	var waits sync.WaitGroup
	waits.Go(func() {
		log.KeepingUp.Wait(caught)
		r.changes(func() { r.caught = true })
	})
	_, err = log.Follow(ctx, each)
	cancel()
	waits.Wait()
	return err
}

// add keeps an entry for who asks, if it is new. It waits while there is much that nobody has asked for.
func (r *logReader) add(ctx context.Context, reading *runlog.Reading, e runlog.Entry) error {
	r.mu.Lock()
	takes := reading.Takes(e)
	read := r.place.Agents[e.Agent]
	r.mu.Unlock()
	if !takes {
		return nil
	}
	doc, err := json.Marshal(e)
	if err != nil {
		return err
	}
	for {
		r.mu.Lock()
		full, changed := r.size > maxAhead && (r.caught || r.tail < 0), r.changed
		r.mu.Unlock()
		if !full {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.changes(func() {
		r.entries, r.size = append(r.entries, runlog.Numbered{Entry: doc, Read: read}), r.size+len(doc)
		for !r.caught && r.tail >= 0 && len(r.entries) > r.tail {
			r.leavesOut()
		}
	})
	return nil
}

// leavesOut drops the first entry, which is not of the last that are wanted.
func (r *logReader) leavesOut() {
	var e runlog.Entry
	first := r.entries[0]
	if json.Unmarshal(first.Entry, &e) == nil && e.Question == nil {
		if r.left == nil {
			r.left = map[string]runlog.Read{}
		}
		r.left[e.Agent] = first.Read
	}
	r.drop(1)
}

func (r *logReader) drop(n int) {
	for _, e := range r.entries[:n] {
		r.size -= len(e.Entry)
	}
	r.entries, r.before = r.entries[n:], r.before+int64(n)
}

// reply returns what there is after what was received.
func (r *logReader) reply(a runlog.Ask) runlog.Reply {
	r.forget.Reset(forgetReader)
	patience := time.NewTimer(runlog.Within)
	defer patience.Stop()
	r.changes(func() {
		if n := a.After - r.before; n > 0 && n <= int64(len(r.entries)) {
			r.drop(int(n))
		}
	})
	for {
		r.mu.Lock()
		reply, some := r.now(a)
		changed := r.changed
		r.mu.Unlock()
		if some {
			return reply
		}
		select {
		case <-changed:
		case <-patience.C:
			return reply
		}
	}
}

// now returns what there is now, and whether that is anything new to who asks.
func (r *logReader) now(a runlog.Ask) (reply runlog.Reply, some bool) {
	if r.broken {
		return runlog.Reply{Gone: true}, true
	}
	if !r.caught && r.tail >= 0 {
		return reply, false
	}
	reply.First = r.before + 1
	if len(r.entries) > 0 && len(r.entries[0].Entry) > runlog.MaxReply {
		rest := r.entries[0].Entry[min(a.Skip, len(r.entries[0].Entry)):]
		reply.Part, reply.Whole = rest[:min(len(rest), runlog.MaxReply)], len(rest) <= runlog.MaxReply
		reply.PartRead = r.entries[0].Read
		return reply, true
	}
	size := 0
	for _, e := range r.entries {
		if size += len(e.Entry); size > runlog.MaxReply {
			break
		}
		reply.Entries = append(reply.Entries, e)
	}
	if all := len(reply.Entries) == len(r.entries); all {
		reply.Caught, reply.Over = r.caught, r.over
	}
	if r.caught {
		reply.Left = r.left
	}
	return reply, len(reply.Entries) > 0 || reply.Over || reply.Caught && !a.Caught
}
