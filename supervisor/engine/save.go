package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
)

// saveAgain is how long to wait before a save that failed is tried again. Meanwhile the children are not read.
const saveAgain = 2 * time.Second

// apply takes an event: Step, one transaction, then the notices. An unwelcome event changes nothing. While a batch is
// open the event is taken with it.
func (e *engine) apply(ctx context.Context, event supervisor.Event) error {
	happened := supervisor.Happened{At: e.Now(), Event: event}
	if e.batch == nil {
		return e.applyAll(ctx, []happening{{event: &happened}})
	}
	next, welcome, err := e.step(e.state, happened)
	if err != nil || !welcome {
		return err
	}
	e.batch.happened = append(e.batch.happened, happening{event: &happened, next: &next})
	e.state = next
	return nil
}

// applyEnd is apply for an event that may be the last but one. Where the supervisor has nothing left to do after it,
// that it leaves is saved with it: the disk is waited for once.
func (e *engine) applyEnd(ctx context.Context, event supervisor.Event) error {
	happened := []happening{{event: &supervisor.Happened{At: e.Now(), Event: event}}}
	next, welcome, err := e.step(e.state, *happened[0].event)
	if err != nil || !welcome {
		return err
	}
	happened[0].next = &next
	if e.hooks.plan(next, e.undone).Leaves() && e.mayLeave(next) {
		happened = append(happened, happening{event: &supervisor.Happened{At: happened[0].event.At,
			Event: supervisor.Left{Undone: e.undone}}})
	}
	return e.applyAll(ctx, happened)
}

// mayLeave reports whether nothing is under way that the supervisor has to see the end of before it leaves in a state.
func (e *engine) mayLeave(s supervisor.State) bool {
	for _, u := range e.inflight {
		if !u.effect.Do.Wait() {
			return false
		}
	}
	return s.Run.Leaving != records.LeavingParked || !e.expects(s.FindQuestions((*checkpoints.Question).IsOpen))
}

// applyAll takes events together, as one transaction. Where the inbox has something that comes first, that is taken
// first; whether the supervisor leaves is then decided again, with another look into the folders of answer files.
func (e *engine) applyAll(ctx context.Context, happened []happening) error {
	for {
		err := e.once(ctx, happened)
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
		if err := e.takeInbox(ctx); err != nil {
			return err
		}
		happened = slices.DeleteFunc(happened, leaves)
		for i := range happened {
			happened[i].next = nil // it goes on from another state now
		}
	}
}

func leaves(h happening) bool {
	if h.event == nil {
		return false
	}
	_, left := h.event.Event.(supervisor.Left)
	return left
}

// once tries to take events; checkpoints.ErrInboxMoved if the inbox has to be looked at before.
func (e *engine) once(ctx context.Context, happened []happening) error {
	before, after := e.state, e.state
	var events []supervisor.Happened
	var told []notice.Notification
	decisive, lasting, opened := false, false, false
	for _, h := range happened {
		if h.event == nil {
			told = append(told, h.notice)
			continue
		}
		if h.next == nil {
			next, welcome, err := e.step(after, *h.event)
			if err != nil {
				return err
			}
			if !welcome {
				continue
			}
			h.next = &next
		}
		next := *h.next
		tells := supervisor.Notifications(after, next, *h.event)
		told, lasting = append(told, tells...), lasting || !supervisor.MayBeLost(after, next, *h.event, tells)
		decisive = decisive || supervisor.MustCheckInbox(after, next, *h.event)
		_, opens := h.event.Event.(supervisor.Opened)
		opened = opened || opens
		events, after = append(events, *h.event), next
	}
	if len(events) > 0 {
		if err := e.save(ctx, after, events, decisive, lasting || decisive); err != nil {
			return err
		}
	}
	e.state = after
	for _, n := range told {
		e.Tell(n)
	}
	if opened || before.Questions != after.Questions {
		if e.fileDrop != nil {
			e.fileDrop.Set(after.FindQuestions(func(*supervisor.Question) bool { return true }))
		}
		for id, c := range e.children {
			c.process.Expect(after.Expected(id))
		}
		e.Open(after, after.FindPending(func(q *supervisor.Question) bool { return q.State == checkpoints.QuestionOpen }))
	}
	return nil
}

// step takes a step, and reports whether the event was welcome: one that is not changes nothing.
func (e *engine) step(s supervisor.State, event supervisor.Happened) (next supervisor.State, welcome bool, err error) {
	next, err = e.hooks.step(s, event)
	if errors.Is(err, supervisor.ErrUnwelcome) {
		e.log.Debug().Err(err).Type("event", event.Event).Msg("unwelcome")
		return s, false, nil
	}
	return next, err == nil, err
}

// save commits what events changed, and waits for the disk if it is to last. Where the disk refuses, it says so and
// tries again until it can: the children are not read meanwhile, and nothing is shown or done that is not saved.
func (e *engine) save(ctx context.Context, next supervisor.State, events []supervisor.Happened,
	decisive, lasting bool) error {
	change := records.Changes(e.state.Records, next.Records)
	for i, event := range events {
		record, err := event.Record(e.run, e.seq+int64(i)+1)
		if err != nil {
			return err
		}
		supervisor.At(e.At, supervisor.BeforeSave+record.Type)
		change.Earlier = append(change.Earlier, record)
	}
	last := len(events) - 1
	change.Event, change.Earlier = change.Earlier[last], change.Earlier[:last]
	change.CheckInbox, change.IfInboxAt, change.Lazy = decisive, next.Taken, !lasting
	change.Last = lasting && next.Run.Left != ""
	for told := false; ; {
		err := e.Store.Commit(ctx, change)
		switch {
		case err == nil:
			e.seq += int64(len(events))
			for _, event := range events {
				supervisor.At(e.At, supervisor.AfterSave+event.Name())
				e.log.Debug().Type("event", event.Event).Interface("body", event.Event).Msg("saved")
			}
			if told {
				e.Tell(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress,
					Text: "the state can be saved again; continuing"})
			}
			return nil
		case errors.Is(err, checkpoints.ErrInboxMoved), ctx.Err() != nil:
			return err
		case errors.Is(err, checkpoints.ErrOutOfOrder), errors.Is(err, checkpoints.ErrDuplicateID):
			return fmt.Errorf("%w: %w", supervisor.ErrBug, err)
		}
		e.log.Error().Err(err).Msg("save")
		if !told {
			told = true
			e.Tell(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress,
				Trouble: true, Text: fmt.Sprintf(
					"cannot save the state: %v. Nothing acknowledged is lost; the agents wait, and it is tried again every %v",
					err, saveAgain)})
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
		e.stopAsked = e.stopAsked ||
			slices.ContainsFunc(notes, func(n supervisor.InboxEntry) bool { return n.Kind == supervisor.EntryStop })
		err = e.once(ctx, []happening{{event: &supervisor.Happened{At: e.Now(),
			Event: supervisor.InboxRead{Notes: notes, Named: e.notesNamed(notes)}}}})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}
