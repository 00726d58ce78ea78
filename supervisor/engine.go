package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// look is how often the inbox is read though nothing has rung: the bell is only a hint.
const look = time.Minute

// saveAgain is how long to wait before a save that failed is tried again. Meanwhile the children are not read.
const saveAgain = 2 * time.Second

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
	log      zerolog.Logger
	group    errgroup.Group
	inflight map[string]context.CancelFunc
	children map[string]*child // by agent
	results  chan result
	heard    chan heard
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

func (e *engine) loop(ctx context.Context, opened Opened) error {
	defer close(e.done)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var err error
	if opened.Notes, err = e.Store.Inbox(ctx, e.run, e.state.Taken); err != nil {
		return err
	}
	if err := e.apply(ctx, opened); err != nil {
		return err
	}
	interrupted := false
	for {
		if left, err := e.carryOut(ctx); left || err != nil {
			return err
		}
		var err error
		select {
		case r := <-e.results:
			e.inflight[r.key]()
			delete(e.inflight, r.key)
			if r.finish != nil {
				r.body = r.finish()
			}
			if r.body != nil {
				err = e.apply(ctx, r.body)
			}
		case h := <-e.heard:
			err = e.hear(ctx, h)
		case <-e.bell.C():
			err = e.takeInbox(ctx)
		case <-ticker.C:
			err = e.takeInbox(ctx)
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

// carryOut starts what is planned and not in flight, and cancels waits that are planned no more. It tells whether
// the supervisor has left.
func (e *engine) carryOut(ctx context.Context) (left bool, err error) {
	plan := Plan(e.state)
	planned := make(map[string]bool, len(plan))
	for _, effect := range plan {
		planned[effect.Key] = true
		if effect.Do == DoLeave {
			if len(e.inflight) > 0 {
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

// start starts an effect in a goroutine of its own.
func (e *engine) start(ctx context.Context, effect Effect) {
	scope, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {}) // what is begun runs to its end
	if effect.Do.wait() {
		scope, cancel = context.WithCancel(ctx)
	}
	e.inflight[effect.Key] = cancel
	e.log.Debug().Str("effect", effect.Key).Msg("begin")
	act := e.effect(effect)
	e.group.Go(func() error {
		r := act(scope)
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

// apply takes an event: Step, one transaction, then the notices. An unwelcome event changes nothing. Where the inbox
// has something that comes first, that is taken first.
func (e *engine) apply(ctx context.Context, body Body) error {
	for {
		err := e.once(ctx, body)
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
		if err := e.takeInbox(ctx); err != nil {
			return err
		}
	}
}

// once tries to take an event; checkpoints.ErrInboxMoved if the inbox has to be looked at before.
func (e *engine) once(ctx context.Context, body Body) error {
	event := Event{At: now(), Body: body}
	next, err := Step(e.state, event)
	if errors.Is(err, ErrUnwelcome) {
		e.log.Debug().Err(err).Type("event", body).Msg("unwelcome")
		return nil
	}
	if err != nil {
		return err
	}
	if err := e.save(ctx, next, event); err != nil {
		return err
	}
	before := e.state
	e.state = next
	e.log.Debug().Type("event", body).Interface("body", body).Msg("saved")
	for _, n := range notices(before, next, event) {
		e.Tell(n)
	}
	if _, opened := body.(Opened); opened || !maps.Equal(before.Questions, next.Questions) {
		e.Open(next.questions(func(q *Question) bool { return q.State == checkpoints.QuestionOpen }))
	}
	return nil
}

// save commits what an event changed. Where the disk refuses, it says so and tries again until it can: the children
// are not read meanwhile, and nothing is shown or done that is not saved.
func (e *engine) save(ctx context.Context, next State, event Event) error {
	record, err := event.record(e.run, e.seq+1)
	if err != nil {
		return err
	}
	change := changes(e.state, next)
	change.Event = record
	change.CheckInbox, change.IfInboxAt = decides(e.state, next, event), next.Taken
	for told := false; ; {
		err := e.Store.Commit(ctx, change)
		switch {
		case err == nil:
			e.seq++
			if told {
				e.Tell(Notice{Time: now(), Run: e.run, Type: Progress, Text: "the state can be saved again; going on"})
			}
			return nil
		case errors.Is(err, checkpoints.ErrInboxMoved), ctx.Err() != nil:
			return err
		case errors.Is(err, checkpoints.ErrOutOfOrder), errors.Is(err, checkpoints.ErrDuplicateID):
			return fmt.Errorf("%w: %w", ErrBug, err)
		}
		e.log.Error().Err(err).Msg("save")
		if !told {
			told = true
			e.Tell(Notice{Time: now(), Run: e.run, Type: Progress, Trouble: true, Text: fmt.Sprintf(
				"cannot save the state: %v. Nothing acknowledged is lost; the agents wait, and it is tried again every %v", err, saveAgain)})
		}
		select {
		case <-time.After(saveAgain):
		case <-e.Interrupts:
			return errAbandoned
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// decides tells whether an event closes the door on what may lie in the inbox unseen: answers begin their way to an
// agent, or the supervisor leaves.
func decides(before, after State, event Event) bool {
	if _, leaves := event.Body.(Left); leaves {
		return true
	}
	for id, q := range after.Questions {
		if old := before.Questions[id]; q.Delivering && (old == nil || !old.Delivering) {
			return true
		}
	}
	return false
}

// takeInbox turns what other processes have left into one event.
func (e *engine) takeInbox(ctx context.Context) error {
	for {
		notes, err := e.Store.Inbox(ctx, e.run, e.state.Taken)
		if err != nil {
			e.log.Error().Err(err).Msg("inbox")
			return nil // it is read again within a minute
		}
		if len(notes) == 0 {
			return nil
		}
		err = e.once(ctx, Noted{Notes: notes})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}

// kill ends every child at once, without waiting for good manners.
func (e *engine) kill(ctx context.Context) {
	for _, c := range e.children {
		c.process.End(ctx, procs.Kill)
	}
}

// now is the wall-clock time: deadlines outlive suspended machines and this process.
func now() time.Time { return time.Now().UTC().Round(0) }
