package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// look is how often the inbox is read though nothing has rung: the bell is only a hint.
const look = time.Minute

// errAbandoned ends an engine whose person interrupted it twice.
var errAbandoned = errors.New("ended at once by a second interrupt")

// engine owns the state of one run. Everything that touches the state runs in its one goroutine (loop); effects run
// in goroutines of the group and tell what became of them by a result.
type engine struct {
	Supervisor
	run      string
	state    State
	seq      int64 // of the last event saved
	bell     *checkpoints.Bell
	keeper   *doorkeeper       // nil where there is no door
	news     chan fileNews     // of question files that are not ours
	unowned  map[string]bool   // ids of such files that no agent has named yet
	edits    edits             // of the agents' files
	door     *checkpoints.Door // nil where the folders of question files cannot be used
	log      zerolog.Logger
	group    errgroup.Group
	inflight map[string]context.CancelFunc
	children map[string]*child // by agent
	results  chan result
	heard    chan heard
	batch    *batch // open while what the children have said meanwhile is heard
	strain   strain
	memory   chan struct{} // one value when the kernel says that memory is short
	done     chan struct{} // closed when the loop has ended: nobody reads the channels any more
}

// A result is what became of an effect: an event, nil if nothing happened. Where the engine's own goroutine has to do
// something first, or knows what the event needs, finish gives it there.
type result struct {
	key    string
	body   Body
	finish func() Body
	undo   func() // instead of both, where the engine has ended meanwhile
}

// heard is one message of a child.
type heard struct {
	child   *child
	message procs.Message
}

// open takes the run over, with all that lies in its inbox. What comes there meanwhile is read with it: taken before, as by apply, all
// of it would be taken twice.
func (e *engine) open(ctx context.Context, opened Opened) error {
	for {
		notes, err := e.Store.Inbox(ctx, e.run, e.state.Taken)
		if err != nil {
			return err
		}
		opened.Notes, opened.Named = notes, e.notesNamed(notes)
		err = e.once(ctx, []happening{{event: &Event{At: now(), Body: opened}}})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}

func (e *engine) loop(ctx context.Context, opened Opened) error {
	defer close(e.done)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	if err := e.open(ctx, opened); err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	e.group.Go(func() error {
		watchMemory(watching, func() { nudge(e.memory) })
		return nil
	})
	interrupted := false
	for {
		if left, err := e.carryOut(ctx); left || err != nil {
			return err
		}
		var err error
		select {
		case r := <-e.results:
			err = e.take(ctx, r)
		case h := <-e.heard:
			err = e.hearAll(ctx, h)
		case n := <-e.news:
			err = e.newsOfFile(ctx, n)
		case <-e.bell.C():
			err = e.takeInbox(ctx)
		case <-ticker.C:
			if err = e.takeInbox(ctx); err == nil && shortOfMemory() {
				err = e.apply(ctx, Pressed{By: memoryShort})
			}
		case <-e.memory:
			err = e.apply(ctx, Pressed{By: memoryShort})
		case by := <-e.Interrupts:
			if interrupted {
				return errAbandoned
			}
			interrupted = true
			err = e.apply(ctx, InterruptAsked{By: by})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// take takes what became of an effect.
func (e *engine) take(ctx context.Context, r result) error {
	if r.finish != nil {
		r.body = r.finish()
	}
	if b, ok := r.body.(Ended); ok {
		if err := e.takenBy(ctx, b.Agent); err != nil { // while its end is in flight still, and is not begun again
			return err
		}
	}
	e.inflight[r.key]()
	delete(e.inflight, r.key)
	if r.body == nil {
		return nil
	}
	return e.apply(ctx, r.body)
}

// carryOut starts what is planned and not in flight, and cancels waits that are planned no more. It tells whether
// the supervisor has left.
func (e *engine) carryOut(ctx context.Context) (left bool, err error) {
	plan := Plan(e.state)
	planned := make(map[string]bool, len(plan))
	for _, effect := range plan {
		planned[effect.Key] = true
		if effect.Do == DoLeave {
			if len(e.inflight) > 0 || e.state.Run.Leaving == leavingParked && e.keeper.expects(e.state.questions(isOpen)) {
				continue // what is begun is ended first
			}
			if err := e.apply(ctx, Left{}); err != nil {
				return false, err
			}
			if e.state.Run.Left != "" {
				return true, nil
			}
			return e.carryOut(ctx) // an answer came in before the door was shut
		}
		if _, ok := e.inflight[effect.Key]; !ok {
			e.start(ctx, effect)
		}
	}
	for key, cancel := range e.inflight {
		if !planned[key] {
			cancel()
		}
	}
	return false, nil
}

func isOpen(q *Question) bool { return q.State == checkpoints.QuestionOpen }

// start starts an effect in a goroutine of its own.
func (e *engine) start(ctx context.Context, effect Effect) {
	scope, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {}) // what is begun runs to its end
	if effect.Do.wait() || effect.Do == DoRun {                                // a person's command ends when it is wanted no more
		scope, cancel = context.WithCancel(ctx)
	}
	e.inflight[effect.Key] = cancel
	e.log.Debug().Str("effect", effect.Key).Msg("begin")
	prepare, ok := acts[effect.Do]
	if !ok {
		panic(fmt.Sprintf("supervisor: no way to do %q", effect.Do))
	}
	act := prepare(e, effect)
	at(e.At, beforeDeed+string(effect.Do))
	e.group.Go(func() error {
		r := act(scope)
		at(e.At, afterDeed+string(effect.Do))
		r.key = effect.Key
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

// kill ends every child at once, without waiting for good manners.
func (e *engine) kill(ctx context.Context) {
	for _, c := range e.children {
		c.process.End(ctx, procs.Kill)
	}
}

// now is the wall-clock time: deadlines outlive suspended machines and this process.
func now() time.Time { return time.Now().UTC().Round(0) }
