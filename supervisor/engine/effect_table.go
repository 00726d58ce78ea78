package engine

import (
	"context"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/worktree"
)

// A kind is a row of the table of effects: how an effect is done, how long it may take, and what is concluded of one
// that has not come back (giveup.go).
type kind struct {
	// do reads what the effect needs of the state, in the engine's goroutine. The function that it returns runs outside of
	// it, may block, and returns what came of the effect.
	do      func(*engine, effect.Effect) func(context.Context) result
	within  time.Duration // 0: as long as it is planned, for what it waits for is bounded or ends with it
	ends    bool          // it ends a process: it has long to do so, and is done even when the supervisor leaves
	writes  bool          // it writes to a process, whose end sets it free
	kills   bool          // to be cut short it ends processes, which takes them a while
	tells   bool          // it tells a person
	genuine bool          // its result holds, even if it was cut short
	// instead returns what is concluded; nil: nothing, and the effect is planned again if it still has to be done.
	instead func(e *engine, f effect.Effect, why string) supervisor.Event
}

// momentTime bounds how long an answer waits until the work is kept as it was at its question.
const momentTime = 20 * time.Second

// effects has a row for each of supervisor.EffectKinds; a test compares the two.
var effects = map[effect.Kind]kind{
	effect.Launch: {do: (*engine).launch, within: 2 * time.Minute, genuine: true,
		instead: (*engine).launchGivenUp},
	effect.End: {do: (*engine).end, within: time.Minute, ends: true, genuine: true,
		instead: (*engine).endGivenUp},
	effect.Sweep: {do: (*engine).sweep, within: time.Minute, ends: true, genuine: true,
		instead: (*engine).endGivenUp},
	effect.Recover: {do: (*engine).recover, within: time.Minute, ends: true, genuine: true,
		instead: (*engine).recoverGivenUp},
	effect.Deliver: {do: (*engine).deliver, writes: true, genuine: true},
	effect.Gate:    {do: (*engine).gate, writes: true, genuine: true},
	effect.Reply:   {do: (*engine).reply, writes: true, genuine: true},
	effect.Confirm: {do: by(func(e *engine) executor[supervisor.Confirmed] { return e.Confirm }),
		within: time.Minute,
		instead: func(_ *engine, f effect.Effect, _ string) supervisor.Event {
			return supervisor.Confirmed{UUID: f.Delivery}
		}},
	effect.Survey: {do: (*engine).survey, within: time.Minute, instead: (*engine).surveyGivenUp},
	effect.Check: {do: by(func(e *engine) executor[supervisor.Checked] { return e.Check }),
		within: 20 * time.Second, instead: (*engine).checkGivenUp},
	effect.Place: {do: by(func(e *engine) executor[supervisor.Placed] { return e.Place }),
		within: worktree.MakeTime + time.Minute, kills: true, instead: (*engine).placeGivenUp},
	effect.Moment: {do: by(func(e *engine) executor[supervisor.MomentKept] { return e.Moment }),
		within: momentTime, kills: true,
		instead: func(_ *engine, f effect.Effect, why string) supervisor.Event {
			return supervisor.MomentKept{Question: f.Question, Problem: why}
		}},
	effect.Tidy: {do: by(func(e *engine) executor[supervisor.Tidied] { return e.Tidy }),
		within: worktree.TidyTime + time.Minute, kills: true, instead: (*engine).tidyGivenUp},
	effect.Merge: {do: (*engine).merge, within: 5 * time.Minute,
		instead: func(_ *engine, _ effect.Effect, why string) supervisor.Event {
			return supervisor.Merged{Problem: why}
		}},
	effect.Prepare: {do: (*engine).prepare, within: 30 * time.Second, instead: (*engine).prepareGivenUp},
	effect.Run: {do: by(func(e *engine) executor[supervisor.RanCommand] { return e.Run }),
		kills: true, genuine: true, instead: (*engine).commandGivenUp},
	effect.Drop: {do: (*engine).drop, within: 30 * time.Second,
		instead: func(_ *engine, f effect.Effect, why string) supervisor.Event {
			return supervisor.Dropped{Question: f.Question, Problem: why}
		}},
	effect.Reclaim: {do: (*engine).reclaim, within: 30 * time.Second,
		instead: func(_ *engine, f effect.Effect, _ string) supervisor.Event {
			return supervisor.Reclaimed{Question: f.Question, There: true}
		}},
	effect.Notify: {do: (*engine).notify, within: time.Minute, tells: true,
		instead: func(_ *engine, f effect.Effect, why string) supervisor.Event {
			return supervisor.NotificationSent{Question: f.Question, Problem: why}
		}},
	effect.Snapshot: {do: (*engine).snapshot, within: 10 * time.Minute, instead: (*engine).snapshotGivenUp},
	effect.Announce: {do: (*engine).announce, within: time.Minute, tells: true,
		instead: func(e *engine, _ effect.Effect, why string) supervisor.Event {
			return supervisor.Announced{Leaving: e.state.Run.Leaving, Problem: why}
		}},
	effect.AskBudget: {do: (*engine).askBudget, within: 30 * time.Second,
		instead: func(e *engine, f effect.Effect, _ string) supervisor.Event {
			return e.askBudget(f)(context.Background()).finish()
		}},
	effect.Hold:    {do: (*engine).hold},
	effect.Watch:   {do: (*engine).watch},
	effect.Timeout: {do: (*engine).timeout},
	effect.Retry:   {do: (*engine).awaitRetry},
	effect.Overdue: {do: (*engine).waitOverdue},
	effect.Clock:   {do: (*engine).clock},
	effect.Ease:    {do: (*engine).ease},
}

// An executor is one of Executors.
type executor[B supervisor.Event] = func(context.Context, supervisor.State, effect.Effect) B

// by returns an executor as a way to do an effect.
func by[B supervisor.Event](
	do func(*engine) executor[B],
) func(*engine, effect.Effect) func(context.Context) result {
	return func(e *engine, f effect.Effect) func(context.Context) result {
		s, do := e.state, do(e)
		return func(ctx context.Context) result { return result{event: do(ctx, s, f)} }
	}
}
