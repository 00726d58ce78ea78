package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// No effect keeps a run from ending. Whatever an effect blocks on (a disk that does not answer, git, a lock, a program
// of the person's, a process that cannot be killed), it is cut short: its context ends
//
//   - when it has taken longer than its bound;
//   - when somebody waits for its end: its agent is stopped, or has used up its time, or the supervisor leaves. It has
//     a while before that (grace), for what it does may be of use later;
//   - when the supervisor stays only for a person to be told: all that is told has one time in common (grace.told);
//   - at once when the supervisor is told to go at once, and for a wait as soon as it is planned no more.
//
// An effect that does not hear this is given up: its goroutine is left behind, and what an event has to say of it is
// concluded without it. When the supervisor leaves nothing is concluded: the records stay as they are, and the next
// supervisor does the same again, as after a crash.

// A grace is how much time effects have to come to their end by themselves.
type grace struct {
	before time.Duration // from when somebody waits for an effect's end until it is cut short
	after  time.Duration // from then until it is given up
	ends   time.Duration // the same for what ends processes
	told   time.Duration // how long, in all, the supervisor stays only for a person to be told; 0: toldPatience
	of     effect.Kind   // for tests: the effect that has the next bound in place of its own
	most   time.Duration
}

// toldPatience is what a command that sends a mail needs on a busy machine.
const toldPatience = 10 * time.Second

var defaultGrace = grace{before: 5 * time.Second, after: 2 * time.Second, ends: 20 * time.Second}

// Why effects are cut short.
var (
	errStopped  = errors.New("it was cut short: its agent was to end")
	errLeaving  = errors.New("it was cut short: the supervisor was to leave")
	errNoNeed   = errors.New("it was not needed any more")
	errLeftNow  = errors.New("the supervisor has left")
	errNoTime   = errors.New("the supervisor leaves, and waits for it no longer")
	errNoAnswer = errors.New("it did not come back")
)

// An underway is an effect in flight.
type underway struct {
	effect effect.Effect
	kind
	cancel     context.CancelCauseFunc
	endingSoon bool // it has been told to come to its end
	of         *queue
	planned    bool // it is in the last plan
}

// endSoon cancels an effect after the time that it has to come to its end.
func (e *engine) endSoon(u *underway, why error) {
	if u.endingSoon {
		return
	}
	u.endingSoon = true
	before := e.grace.before
	if errors.Is(why, errNoTime) {
		before = time.Until(e.toldUntil)
	}
	time.AfterFunc(before, func() { u.cancel(why) })
}

// boundTelling begins the time that is left to tell a person, once the supervisor stays for nothing else.
func (e *engine) boundTelling(plan effect.Parts, leaving bool) {
	switch {
	case leaving: // what is not planned any more may be under way still
	case e.state.Run.Leaving == "" || !plan.OnlyTells():
		e.toldUntil = time.Time{}
	case e.toldUntil.IsZero():
		told := e.grace.told
		if told == 0 {
			told = toldPatience
		}
		e.toldUntil = time.Now().Add(told)
	}
}

// reasonToEnd says why an effect in flight ought to come to its end; nil if it may take its time. leaving tells that
// nothing else is left to do.
func (e *engine) reasonToEnd(u *underway, leaving bool) error {
	switch {
	case u.ends, u.writes && u.planned:
		return nil
	case e.interrupted:
		return errLeaving
	case u.tells && !e.toldUntil.IsZero():
		return errNoTime
	case leaving && !u.planned:
		return errNoNeed
	case e.state.EndAwaited(u.effect.Agent), u.effect.Agent == "" && e.stopAsked:
		return errStopped
	}
	return nil
}

// await waits for an effect. One that does not come back after its context has ended is given up; undo then undoes what
// it does all the same.
func (e *engine) await(ctx context.Context, f effect.Effect, came <-chan result) result {
	select {
	case r := <-came:
		return r
	case <-ctx.Done():
	}
	patience := e.grace.after
	if b := effects[f.Do]; b.ends || b.kills {
		patience = e.grace.ends
	}
	abandon := time.NewTimer(patience)
	defer abandon.Stop()
	select {
	case r := <-came:
		r.cut = true
		return r
	case <-abandon.C:
	}
	// Not waited for: it may never come back.
	go func() {
		if r := <-came; r.undo != nil {
			r.undo()
		}
	}()
	return result{cut: true, abandoned: true, why: context.Cause(ctx)}
}

// concluded returns the event of an effect that was cut short: its own, or what is concluded without it.
func (e *engine) concluded(u *underway, r result) supervisor.Event {
	switch {
	case e.interrupted && (r.abandoned || !u.genuine):
		e.log.Warn().Str("effect", u.effect.Key).Bool("given up", r.abandoned).Msg("left to the next supervisor")
		e.undone = append(e.undone, u.effect.Key)
		return nil
	case r.finish != nil:
		return r.finish()
	case r.event != nil:
		return r.event
	case !u.planned && !u.ends || u.instead == nil:
		return nil
	}
	why := errNoAnswer
	if r.why != nil {
		why = fmt.Errorf("%w: %w", errNoAnswer, r.why)
	}
	e.log.Warn().Err(why).Str("effect", u.effect.Key).Msg("given up")
	return u.instead(e, u.effect, why.Error())
}

func (e *engine) launchGivenUp(f effect.Effect, why string) supervisor.Event {
	return notStarted(f, errors.New("claude cannot be started: "+why))
}

// endGivenUp concludes that a process cannot be ended: the kernel holds it. It is named among those that are left.
func (e *engine) endGivenUp(f effect.Effect, why string) supervisor.Event {
	b := supervisor.Ended{Agent: f.Agent, Launch: f.Launch, Outcome: "its process could not be ended; " + why}
	if c := e.children[f.Agent]; c != nil && c.Launch == f.Launch {
		delete(e.children, f.Agent)
		b.Failure = claude.Classify(c.Result, nil)
		b.Survivors = []string{fmt.Sprintf("%d claude", c.process.PID())}
	}
	return b
}

func (e *engine) recoverGivenUp(f effect.Effect, why string) supervisor.Event {
	return supervisor.Ended{Agent: f.Agent, Launch: f.Launch, Outcome: "lost with its supervisor; " + why}
}

func (e *engine) surveyGivenUp(f effect.Effect, _ string) supervisor.Event {
	return supervisor.Surveyed{Agent: f.Agent, Launch: f.Launch, Checkpoint: e.state.Agents.Get(f.Agent).Checkpoint}
}

// checkGivenUp concludes that no deliverable was found: a report counts by what is there.
func (e *engine) checkGivenUp(f effect.Effect, why string) supervisor.Event {
	b := supervisor.Checked{Agent: f.Agent, Part: f.Part}
	for _, d := range task.Due(e.state.Agents.Get(f.Agent), f.Part) {
		b.Missing = append(b.Missing, fmt.Sprintf("%s (%s)", d.Path, text.FirstLine(why)))
	}
	return b
}

func (e *engine) placeGivenUp(f effect.Effect, why string) supervisor.Event {
	a := e.state.Agents.Get(f.Agent)
	b := supervisor.Placed{Agent: a.ID, Cwd: a.Cwd}
	if w := a.Worktree; w != nil {
		b.Worktree = &checkpoints.Worktree{State: checkpoints.WorktreeNone, Branch: w.Branch, From: w.From,
			Problem: text.FirstLine(why)}
		if b.Cwd = w.From; w.From == e.state.Folder(a.Parent) {
			b.Cwd = ""
		}
	}
	return b
}

func (e *engine) tidyGivenUp(f effect.Effect, why string) supervisor.Event {
	w := *e.state.Agents.Get(f.Agent).Worktree
	w.State, w.Tip, w.Lacks, w.Problem = checkpoints.WorktreeKept, w.Branch, nil, text.FirstLine(why)
	return supervisor.Tidied{Agent: f.Agent, Worktree: w}
}

func (e *engine) prepareGivenUp(f effect.Effect, why string) supervisor.Event {
	first := e.state.Group(f.Question)[0]
	b := e.preparedFor(first)
	if first.Assumed != nil {
		b.Unknown = "What was changed could not be looked for: " + why
		return b
	}
	b.Problem = why
	return b
}

func (e *engine) commandGivenUp(f effect.Effect, why string) supervisor.Event {
	return supervisor.RanCommand{Question: f.Question,
		Ran: checkpoints.Ran{Epoch: e.state.Run.Epoch, Done: true, Exit: "it could not be ended; " + why}}
}
