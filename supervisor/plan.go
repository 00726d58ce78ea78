package supervisor

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// An Effect is one thing that ought to be under way. Key is stable: the same wish in two plans is one effect.
type Effect struct {
	Do       EffectKind
	Key      string
	Agent    string
	Launch   int
	Delivery string        // uuid
	Question string        // id
	Request  string        // of a gate or reply
	Part     int           // of a check: which report of a subagent; 0: the agent's own
	Until    time.Time     // of a wait; of a snapshot: it is not begun before
	Patience time.Duration // of a watch
}

// A EffectKind is a kind of effect.
type EffectKind string

// The effects. Those that end a process run to their end once begun; waits are cancelled when they are planned no more.
const (
	DoLaunch    EffectKind = "launch"   // start the process of a launch
	DoEnd       EffectKind = "end"      // end it, in the way its record says
	DoRecover   EffectKind = "recover"  // end what is left of a launch of an earlier supervisor
	DoDeliver   EffectKind = "deliver"  // write a delivery to the process
	DoConfirm   EffectKind = "confirm"  // look in the transcript whether a delivery had reached an ended launch
	DoGate      EffectKind = "gate"     // reply to the Stop hook
	DoReply     EffectKind = "reply"    // reply to a call of a tool of ours
	DoSurvey    EffectKind = "survey"   // write the checkpoint of an ended launch
	DoCheck     EffectKind = "check"    // look for the deliverables of a report
	DoPlace     EffectKind = "place"    // make the folder ready in which an agent is about to work
	DoTidy      EffectKind = "tidy"     // look through the worktree of an agent that is about to end
	DoMerge     EffectKind = "merge"    // merge the findings that the agents of a run have shared
	DoPrepare   EffectKind = "prepare"  // do what an answer needs before it is said
	DoRun       EffectKind = "run"      // run the command that a person let run
	DoDrop      EffectKind = "drop"     // write an answer where an agent's script looks for it
	DoReclaim   EffectKind = "reclaim"  // look whether the script has taken it
	DoNotify    EffectKind = "notify"   // give a question's one notice
	DoHold      EffectKind = "hold"     // wait until a process was held long enough
	DoWatch     EffectKind = "watch"    // wait until nothing was heard of a process at work for too long
	DoTimeout   EffectKind = "timeout"  // wait until a call of check_work has waited long enough
	DoRetry     EffectKind = "retry"    // wait until an agent may be launched again
	DoOverdue   EffectKind = "overdue"  // wait until an agent's work takes longer than its estimate
	DoClock     EffectKind = "clock"    // measure how long what a budget bounds is at work
	DoEase      EffectKind = "ease"     // wait until more processes may be at work again
	DoAskBudget EffectKind = "budget"   // name the question of a budget that is used up
	DoSnapshot  EffectKind = "snapshot" // put the run as it is where it can be gone on with elsewhere
	DoAnnounce  EffectKind = "announce" // tell the person's own command how the run is left
	DoLeave     EffectKind = "leave"    // nothing is left to do for this supervisor
)

// DoSweep follows an exit that nobody asked for: whatever the process left behind is ended before the launch counts
// as ended. It is not planned, since only a living supervisor sees the exit; after a crash DoRecover does the same.
const DoSweep EffectKind = "sweep"

// EffectKinds lists all but DoLeave, which the loop sees to.
var EffectKinds = []EffectKind{
	DoLaunch, DoEnd, DoSweep, DoRecover, DoDeliver, DoConfirm, DoGate, DoReply, DoSurvey, DoCheck, DoPlace, DoTidy,
	DoMerge,
	DoPrepare, DoRun, DoDrop, DoReclaim, DoNotify, DoHold, DoWatch, DoTimeout, DoRetry, DoOverdue, DoClock,
	DoEase, DoAskBudget, DoSnapshot, DoAnnounce,
}

// Wait reports whether the effect only waits for a time.
func (d EffectKind) Wait() bool {
	switch d {
	case DoHold, DoWatch, DoTimeout, DoRetry, DoOverdue, DoClock, DoEase:
		return true
	}
	return false
}

// acts reports whether the effect does more than wait for a time.
func (e Effect) acts() bool { return !e.Do.Wait() }

// Plan gives what ought to be under way in a state. It is pure; the engine starts what is not yet in flight, in this
// order, and cancels waits that are planned no more. After a crash the same plan over the same records goes on.
func Plan(s State) []Effect { return s.Plan(nil).All() }

// Plan is Plan without effects that this supervisor leaves to the next one, by their keys; in parts.
func (s State) Plan(undone []string) Parts {
	if s.Run == nil || s.Run.Left != "" {
		return Parts{}
	}
	s.index = s.indexed()
	plan := Parts{First: s.planSnapshot(), Agents: s.planned(), // a snapshot first: what it holds back may be due with it
		Rest: slices.Concat(s.planAnswers(), s.planBudgets(), s.planEase())}
	if unseen := s.FindPending(func(q *Question) bool {
		return q.State == checkpoints.QuestionOpen && q.Noticed != s.Run.Epoch && s.Run.TakenOver == nil
	}); len(unseen) > 0 { // one at a time, so that they are told in their order
		q := unseen[0]
		plan.Rest = append(plan.Rest, Effect{Do: DoNotify, Key: "notify " + q.ID, Agent: q.Agent, Question: q.ID})
	}
	if len(undone) > 0 || !s.leased() { // else none of them is left out
		left := make(map[string]bool, len(undone))
		for _, key := range undone {
			left[key] = true
		}
		plan = plan.Without(func(e Effect) bool { return left[e.Key] || s.withheld(e.Do) })
	}
	if s.Run.Leaving == "" || plan.acts() {
		return plan
	}
	if merge := s.planMerge(); len(merge) > 0 && !slices.Contains(undone, merge[0].Key) {
		return Parts{Rest: merge}
	}
	announce := Effect{Do: DoAnnounce, Key: "announce " + s.Run.Leaving}
	if len(s.Config.Notify) > 0 && s.Run.Leaving != LeavingInterrupted && s.Run.Announced != s.Run.Leaving &&
		!slices.Contains(undone, announce.Key) {
		return Parts{Rest: []Effect{announce}}
	}
	return Parts{Rest: []Effect{{Do: DoLeave, Key: "leave"}}}
}

func (s State) planAgent(a *Agent) []Effect {
	if a.Status.Ended() {
		return nil
	}
	if plan := planWorkplace(a); plan != nil {
		return plan
	}
	l := s.Launch(a.ID)
	if l == nil {
		return nil
	}
	on := func(do EffectKind) Effect {
		return Effect{Do: do, Key: fmt.Sprintf("%s %s %d", do, a.ID, l.N), Agent: a.ID, Launch: l.N}
	}
	var plan []Effect
	if l.Phase.Ended() {
		for _, v := range s.FindDeliveries(a.ID, waitsForReceipt) {
			e := on(DoConfirm)
			e.Key, e.Delivery = "confirm "+v.UUID, v.UUID
			plan = append(plan, e)
		}
		if surveyDue(a, l) {
			plan = append(plan, on(DoSurvey))
		}
	} else {
		plan = s.planLive(l, on)
	}
	if part := partDue(a); part != nil {
		e := on(DoCheck)
		e.Key, e.Part = fmt.Sprintf("%s part %d", e.Key, part.N), part.N
		plan = append(plan, e)
	}
	if !slices.ContainsFunc(plan, Effect.acts) && s.checkDue(a, l) {
		plan = append(plan, on(DoCheck))
	}
	return plan
}

// surveyDue reports whether an ended launch leaves something that a later one may need to know.
func surveyDue(a *Agent, l *Launch) bool {
	return l.Phase != checkpoints.LaunchSurveyed && (l.End != EndFinish || a.Report == nil)
}

// checkDue reports whether the agent seems done, so that its report can be held against the disk.
func (s State) checkDue(a *Agent, l *Launch) bool {
	if a.Report == nil || a.Report.Checked || l.Phase.InTurn() || l.End != "" && !l.Phase.Ended() {
		return false
	}
	unsaid := s.FindDeliveries(a.ID, func(v *Delivery) bool {
		// A result that did not come by the end of the turn comes no more: the transcript tells, once the process has ended.
		return undelivered(v) && (v.Prompt() || unsent(v))
	})
	return len(unsaid) == 0 && len(s.Open(a.ID)) == 0 && len(a.Outbox) == 0 && len(Alive(l)) == 0 &&
		l.Phase != checkpoints.LaunchTurnDue && len(s.waitsFor(a.ID)) == 0
}

func (s State) planLive(l *Launch, on func(EffectKind) Effect) []Effect {
	switch {
	case l.End == EndRecover:
		return []Effect{on(DoRecover)}
	case l.Phase == checkpoints.LaunchIntended:
		return []Effect{on(DoLaunch)}
	}
	var plan []Effect
	if l.Gate != nil {
		e := on(DoGate)
		e.Key, e.Request = "gate "+l.Gate.Request, l.Gate.Request
		plan = append(plan, e)
	}
	if l.End != "" {
		return append(plan, on(DoEnd))
	}
	for _, v := range s.unsentTo(l.Agent, l.N) {
		e := on(DoDeliver)
		e.Key, e.Delivery = "deliver "+v.UUID, v.UUID
		plan = append(plan, e)
	}
	for _, r := range l.Replies {
		e := on(DoReply)
		if r.Await != nil {
			e.Do, e.Until = DoTimeout, r.Await.Until
		}
		e.Key, e.Request = string(e.Do)+" "+r.Request, r.Request
		plan = append(plan, e)
	}
	a := s.Agents[l.Agent]
	if a.HoldUntil != nil {
		e := on(DoHold)
		e.Until = *a.HoldUntil
		plan = append(plan, e)
	}
	if s.watched(a, l) {
		e := on(DoWatch)
		e.Patience = s.Config.SilentAfter
		if l.Phase == checkpoints.LaunchTurnDue {
			e.Key, e.Patience = e.Key+" due", turnPatience
		}
		if e.Patience > 0 {
			plan = append(plan, e)
		}
	}
	return plan
}

// turnPatience is how long after the end of background work the CLI is given to begin its turn: it takes milliseconds.
const turnPatience = 10 * time.Second

// watched reports whether something ought to be heard of a process: it works, or waits for work of its own that may
// hang, or is about to begin a turn by itself. One in which a nested run waits has nothing to say.
func (s State) watched(a *Agent, l *Launch) bool {
	return l.Stalled == nil && (a.Status == checkpoints.Running ||
		a.Status == checkpoints.Blocked && (len(l.Background) > 0 || l.Phase == checkpoints.LaunchTurnDue)) &&
		!s.awaited(a.ID) // last: it looks at each child
}
