package engine

import (
	"context"
	"slices"

	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

// messagesAhead is how many messages of children may wait to be read: what came while one transaction was made durable
// is saved by the next, together.
const messagesAhead = 16

// A batch is what happened in one go. The state runs ahead of what is saved until it is closed; nothing is shown or
// done before.
type batch struct {
	saved    supervisor.State
	happened []happening
}

// A happening is an event, or what is told in between and saved by nobody.
type happening struct {
	event  *supervisor.Happened
	next   *supervisor.State // the state after the event, where that is known already
	notice notice.Notification
}

// readAll reads a message and those that wait behind it. The end of a process is the last of a batch.
func (e *engine) readAll(ctx context.Context, h childMessage) error {
	e.batch = &batch{saved: e.state}
	for {
		if _, exit := h.message.(procs.Exit); exit {
			if err := e.close(ctx, h.child.Agent); err != nil {
				return err
			}
			return e.read(ctx, h)
		}
		if _, ends := h.message.(procs.Result); ends {
			if err := e.takenByTheEnd(ctx, h.child.Agent); err != nil {
				return err
			}
		}
		if err := e.read(ctx, h); err != nil {
			return err
		}
		select {
		case h = <-e.messages:
			continue
		default:
		}
		return e.close(ctx, h.child.Agent)
	}
}

// takenByTheEnd looks, before the end of an agent's turn, whether its scripts have taken answers that somebody else put
// there: after it, no script is thought to wait. One of ours is looked for afterwards, by reclaim.
func (e *engine) takenByTheEnd(ctx context.Context, agent string) error {
	open := slices.DeleteFunc(e.scriptsOf(agent), answered)
	if len(open) == 0 {
		return nil
	}
	if err := e.close(ctx, agent); err != nil {
		return err
	}
	if err := e.taken(ctx, open); err != nil {
		return err
	}
	e.batch = &batch{saved: e.state}
	return nil
}

func answered(q *supervisor.Question) bool { return !q.IsOpen() }

// close saves what happened in a batch, whose last message is the agent's.
func (e *engine) close(ctx context.Context, agent string) error {
	if err := e.checkNothing(ctx, agent); err != nil {
		return err
	}
	b := e.batch
	e.batch, e.state = nil, b.saved
	if len(b.happened) == 0 {
		return nil
	}
	return e.applyAll(ctx, b.happened)
}

// checkNothing takes the report of an agent as checked in the batch that is open, where DoCheck is due next and would
// find that there is nothing to look for. So the end of the turn and the report are one transaction.
func (e *engine) checkNothing(ctx context.Context, agent string) error {
	a := e.state.Agents.Get(agent)
	if len(e.batch.happened) == 0 || a == nil || a.Report == nil || a.Report.Checked || len(task.Due(a, 0)) > 0 ||
		e.Lease != nil || e.heldBack(effect.Check) {
		return nil
	}
	for _, alone := range e.hooks.plan(e.state, e.undone).Agents {
		if alone.Agent == agent && slices.ContainsFunc(alone.Effects, func(f effect.Effect) bool {
			return f.Do == effect.Check && f.Part == 0 && e.inflight[f.Key] == nil
		}) {
			return e.apply(ctx, supervisor.Checked{Agent: agent})
		}
	}
	return nil
}

// say tells something that is not a change of the state, in its place among what happens.
func (e *engine) say(n notice.Notification) {
	if e.batch == nil {
		e.Tell(n)
		return
	}
	e.batch.happened = append(e.batch.happened, happening{notice: n})
}
