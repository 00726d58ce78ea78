package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
)

// errAbandoned ends an engine whose person interrupted it twice.
var errAbandoned = errors.New("ended at once by a second interrupt")

// engine owns the state of one run. Everything that touches the state runs in its one goroutine (loop); effects run
// in goroutines of the group and tell what became of them by a result.
type engine struct {
	Supervisor
	run           string
	state         supervisor.State
	created       *supervisor.Created // that the run is new, which is saved with its opening; nil: it was saved before
	seq           int64               // of the last event saved
	waker         Waker
	news          chan supervisor.FileEvent // of question files that are not ours
	unowned       map[string]bool           // ids of such files that no agent has named yet
	edits         edits                     // of the agents' files
	fileDrop      FileDrop                  // nil where the folders of question files cannot be used
	log           zerolog.Logger
	group         errgroup.Group
	inflight      map[string]*underway
	ofRun         queue             // those of them that concern the run as a whole
	ofAgents      []*queue          // and those that concern an agent by itself, in the order in which the agents came
	undone        []string          // keys of effects that are left to the next supervisor
	children      map[string]*child // by agent
	results       chan result
	messages      chan childMessage
	interrupted   bool      // the person has asked to leave
	stopAsked     bool      // or that something stops
	toldUntil     time.Time // how long the supervisor still stays to tell a person; zero: it stays for something else, too
	batch         *batch    // open while what the children have said meanwhile is read
	backpressure  supervisor.Backpressure
	watches       watches         // what the kernel is asked to tell
	memory        chan struct{}   // one value when the kernel says that memory is short
	ticking       time.Time       // since when the inbox is looked at each minute
	disk          answering       // of what agents name
	capturing     capturing       // the snapshot that holds effects back; zero: none does
	snapshotReady <-chan struct{} // SnapshotReady; nil once snapshots are put off no longer
	leases        chan supervisor.LeaseRead
	ticked        chan struct{} // one value when the lease has to be looked at, for a minute is over
	unsure        chan struct{} // one value when an effect could not know whose the run is
	done          chan struct{} // closed when the loop has ended: nobody reads the channels any more
}

// A result is what became of an effect: an event, nil if nothing happened. Where the engine's own goroutine has to do
// something first, or knows what the event needs, finish gives it there.
type result struct {
	key       string
	event     supervisor.Event
	finish    func() supervisor.Event
	undo      func() // instead of both, where the engine has ended meanwhile
	cut       bool   // its context had ended before
	abandoned bool   // it was given up: there is nothing of it but why
	why       error
}

// childMessage is one message of a child.
type childMessage struct {
	child   *child
	message procs.Message
}

// open takes the run over, with all that lies in its inbox. What comes there meanwhile is read with it: taken before,
// as by apply, all of it would be taken twice. A run that is new is created and opened in one.
func (e *engine) open(ctx context.Context, opened supervisor.Opened) error {
	if e.created != nil {
		return e.once(ctx, []happening{
			{event: &supervisor.Happened{At: e.Now(), Event: *e.created}},
			{event: &supervisor.Happened{At: e.Now(), Event: opened}},
		})
	}
	for {
		notes, err := e.Store.Inbox(ctx, e.run, e.state.Taken)
		if err != nil {
			return err
		}
		opened.Notes, opened.Named = notes, e.notesNamed(notes)
		err = e.once(ctx, []happening{{event: &supervisor.Happened{At: e.Now(), Event: opened}}})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}

func (e *engine) loop(ctx context.Context, opened supervisor.Opened) error {
	defer close(e.done)
	ticker := time.NewTicker(supervisor.PollInterval)
	defer ticker.Stop()
	e.ticking = time.Now()
	if err := e.open(ctx, opened); err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	ageTimer := time.NewTimer(watchAge)
	defer ageTimer.Stop()
	var delayed <-chan time.Time
	if e.snapshotReady = e.SnapshotReady; e.snapshotReady != nil {
		delayed = time.After(maxSnapshotDelay)
	}
	lastActive, idle := e.Now(), false
	e.group.Go(func() error { e.watchLease(watching); return nil })
	for {
		if left, err := e.carryOut(ctx); left || err != nil {
			return err
		}
		e.setWatches(watching)
		var err error
		waited := false
		select {
		case l := <-e.leases:
			err = e.apply(ctx, l)
		case <-ageTimer.C:
			e.watches.grown = true
		case <-e.snapshotReady:
			e.snapshotReady = nil
		case <-delayed:
			e.snapshotReady = nil
		case <-e.capturing.done:
			e.capturing = capturing{}
		case r := <-e.results:
			err = e.take(ctx, r)
		case h := <-e.messages:
			err = e.readAll(ctx, h)
		case n := <-e.news:
			err = e.newsOfFile(ctx, n)
		case <-e.waker.C():
			err = e.takeInbox(ctx)
		case <-ticker.C:
			waited = true
			select {
			case e.ticked <- struct{}{}:
			default: // the lease is being looked at still
			}
			if err = e.takeInbox(ctx); err == nil && e.Machine.ShortOfMemory() {
				err = e.apply(ctx, supervisor.Throttled{By: supervisor.MemoryShort})
			}
		case <-e.memory:
			err = e.apply(ctx, supervisor.Throttled{By: supervisor.MemoryShort})
		case by := <-e.Interrupts:
			if e.interrupted {
				return errAbandoned
			}
			e.interrupted = true
			err = e.apply(ctx, supervisor.InterruptAsked{By: by})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		switch {
		case !waited:
			lastActive, idle = e.Now(), false
		case !idle && e.Now().Sub(lastActive) >= supervisor.PollInterval/2:
			idle = true
			e.Machine.Rest()
		}
	}
}

// take takes what became of an effect.
func (e *engine) take(ctx context.Context, r result) error {
	u := e.inflight[r.key]
	switch {
	case r.cut:
		r.event = e.concluded(u, r)
	case r.finish != nil:
		r.event = r.finish()
	}
	if b, ok := r.event.(supervisor.Ended); ok {
		if err := e.taken(ctx, e.scriptsOf(b.Agent)); err != nil { // while its end is in flight still, and is not begun again
			return err
		}
	}
	u.cancel(nil)
	e.finished(u)
	switch r.event.(type) {
	case nil:
		return nil
	case supervisor.Ended:
		return e.applyEnd(ctx, r.event)
	}
	return e.apply(ctx, r.event)
}

// start starts an effect in a goroutine of its own. What is begun runs to its end, or is cut short (giveup.go). It is
// part of a queue, nil for what is not planned.
func (e *engine) start(ctx context.Context, f effect.Effect, of *queue) {
	scope, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	row, ok := effects[f.Do]
	if !ok {
		panic(fmt.Sprintf("supervisor: no way to do %q", f.Do))
	}
	u := &underway{effect: f, kind: row, cancel: cancel, of: of, planned: of != nil}
	e.inflight[f.Key] = u
	if of != nil {
		of.underway = append(of.underway, u)
	}
	e.log.Debug().Str("effect", f.Key).Msg("begin")
	act := row.do(e, f)
	supervisor.At(e.At, supervisor.BeforeEffect+string(f.Do))
	if e.hooks.instead != nil {
		act = e.hooks.instead(f, act)
	}
	if e.Lease != nil && f.Do.NeedsLease() && f.Do != effect.Snapshot { // it looks by itself
		act = e.leased(f, act)
	}
	came := make(chan result, 1)
	// Not waited for: what an effect blocks on may never come back (giveup.go).
	go func() {
		r := act(scope)
		supervisor.At(e.At, supervisor.AfterEffect+string(f.Do))
		came <- r
	}()
	e.group.Go(func() error {
		within := row.within
		if e.grace.of == f.Do && within > 0 {
			within = e.grace.most
		}
		if within > 0 {
			late := time.AfterFunc(within, func() { cancel(fmt.Errorf("it took longer than %v", within)) })
			defer late.Stop()
		}
		r := e.await(scope, f, came)
		r.key = f.Key
		if e.hooks.comes != nil {
			e.hooks.comes(f.Key)
		}
		select {
		case e.results <- r:
		case <-e.done:
			if r.undo != nil {
				r.undo()
			}
		}
		return nil
	})
}

// killTime is how long processes are given to end that are killed: the kernel may hold one for ever.
const killTime = 20 * time.Second

// kill ends every child at once, without waiting for good manners.
func (e *engine) kill(ctx context.Context) {
	var ends sync.WaitGroup
	for _, c := range e.children {
		ends.Go(func() { c.process.End(ctx, procs.Kill) })
	}
	if !within(killTime, ends.Wait) {
		e.log.Error().Msg("not all processes could be killed")
	}
}
