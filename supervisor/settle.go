package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// reconcile concludes what follows from the facts after an event: the status of each agent that it touches and what is
// begun for it, then the run's. It is the same after any event and after a crash, which is why recovery needs no code
// of its own.
func (d *transition) reconcile() {
	d.concernScopes()
	for id := d.unsettled(); id != ""; id = d.unsettled() {
		d.settled[id] = true
		if d.Agents[id].Status.Ended() {
			continue
		}
		d.reconcileAgent(id)
		if a := d.Agents[id]; a.Status.Ended() {
			d.concern(a)
		}
	}
	d.reindex()
	d.dispatch()
	d.reindex()
	d.withdrawBudgets()
	d.reconcileRun()
}

// unsettled gives an agent of which something has changed since it was settled, "" if there is none: children come
// before their parents, who are told of their ends.
func (d *transition) unsettled() string {
	next := ""
	for id := range d.touched {
		if !d.settled[id] && (next == "" || d.Agents[id].Seq > d.Agents[next].Seq) {
			next = id
		}
	}
	return next
}

func (d *transition) reconcileAgent(id string) {
	d.collectAnswers(id)
	switch {
	case d.Agents[id].Group:
		d.reconcileGroup(id)
	case d.Live(id) != nil:
		d.reconcileLive(id)
		d.sayIfSilent(id)
	default:
		d.reconcileIdle(id)
	}
}

// collectAnswers begins the delivery of complete answers where a process waits in the call that asked, and puts all
// others among what is to be said.
func (d *transition) collectAnswers(id string) {
	d.unpolled(id)
	d.decideFurther(id)
	d.decideBudgets(id)
	d.decideOverrun(id)
	d.approveChildren(id)
	for _, q := range d.FindQuestionsOf(id, func(q *Question) bool {
		return q.State == checkpoints.QuestionAnswered && !q.Delivering
	}) {
		group := d.Group(q.Group)
		if d.Questions[q.ID].Delivering ||
			slices.ContainsFunc(group, func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		if questions.Resolve(q).How == questions.GiveUp {
			d.question(q.ID).State = checkpoints.QuestionDelivered // it needs no words
			d.fail(id, "gave_up", "given up by "+q.AnsweredBy+": "+text.FirstLine(q.Text))
			continue
		}
		if toldByClients(q.Nested) {
			continue
		}
		if q.File != nil && q.File.Polls {
			if l := d.Live(id); l != nil && l.End == "" { // else nobody would be there to take it
				d.beginDrop(group)
			}
			continue
		}
		if d.unready(group[0]) != "" {
			continue
		}
		a := d.agent(id)
		if l := d.held(q); l != nil {
			d.begin(a, l, delivering{key: "answer " + q.Group, tool: q.Tool, reply: d.replyTo(group), groups: []string{q.Group}})
			continue
		}
		enqueue(a, checkpoints.OutboxItem{Key: q.Group, Group: q.Group, At: d.at})
	}
}

// setStatus sets an agent's status with its reason; since when is kept while the status stays.
func (d *transition) setStatus(a *Agent, status Status, reason string) {
	if a.Status != status {
		a.Since = d.at
	}
	a.Status, a.Reason = status, reason
}

// reconcileLive settles an agent that has a process, or may have one.
func (d *transition) reconcileLive(id string) {
	a, l := d.agent(id), d.last(id)
	if a.StopWanted != "" {
		d.end(id, endStop, "stopped by "+a.StopWanted)
	}
	if d.Run.Leaving == LeavingInterrupted {
		d.end(id, endInterrupt, d.whyInterrupted())
	}
	if d.reconcileEnding(a, l) {
		return
	}
	if l.Phase == checkpoints.LaunchIntended {
		d.setStatus(a, checkpoints.Starting, fmt.Sprintf("launch %d", l.N))
		return
	}
	open := d.Open(id)
	if d.enforceBudget(a, l, open) {
		return
	}
	if !d.Abilities().TakesInput { // what is to be said waits for the end of the process
		a.HoldUntil = nil
		reason := "at work"
		if len(open) > 0 {
			reason = "at work; asks: " + text.FirstLine(open[0].Text)
		}
		d.setStatus(a, checkpoints.Running, reason)
		return
	}
	d.returnAwaited(a, l)
	d.flushNow(a, l)
	if l.Phase.InTurn() {
		if slices.ContainsFunc(open, func(q *Question) bool { return d.held(q) != nil }) {
			d.wait(a, l, open)
			return
		}
		a.HoldUntil = nil
		d.setStatus(a, checkpoints.Running, d.doing(a))
		return
	}
	switch {
	case d.reads(l):
		d.setStatus(a, checkpoints.Running, "reads what was said to it")
	case l.Phase == checkpoints.LaunchTurnDue: // what is said now would fall into that turn
		d.setStatus(a, checkpoints.Blocked, "its background work has ended; its next turn is about to begin")
	case len(open) > 0:
		d.wait(a, l, open)
	case d.preparing(id) != "":
		d.setStatus(a, checkpoints.Running, d.preparing(id))
	case len(a.Outbox) > 0 || a.GoOn:
		d.flush(a, l)
		d.setStatus(a, checkpoints.Running, "reads what was said to it")
	case len(Alive(l)) > 0:
		d.setStatus(a, checkpoints.Blocked, "waits for its background work: "+strings.Join(Alive(l), ", "))
	case len(d.waitsFor(id)) > 0:
		d.waitForChildren(a, l)
		return
	case a.Report != nil && !a.Report.Checked:
		d.setStatus(a, checkpoints.Running, "has reported; its deliverables are checked")
	case d.tellMissing(a):
		d.flush(a, l)
		d.setStatus(a, checkpoints.Running, "was told which deliverables are missing")
	case d.tellUnreported(a, l):
		d.flush(a, l)
		d.setStatus(a, checkpoints.Running, "was asked for its report")
	default:
		d.end(id, EndFinish, "the work is done")
		d.setStatus(a, checkpoints.Running, "finishing")
	}
	if len(open) == 0 {
		a.HoldUntil = nil
	}
}

// sayIfSilent gives an agent at work of which nothing is heard that as its reason.
func (d *transition) sayIfSilent(id string) {
	l, a := d.Live(id), d.Agents[id]
	if l != nil && l.Stalled != nil && l.End == "" &&
		(a.Status == checkpoints.Running || a.Status == checkpoints.Blocked) {
		d.agent(id).Reason = silence(l.Stalled.Since, l.Stalled.Doing)
	}
}

// Alive lists what of the agent's own lives on outside its turns.
func Alive(l *Launch) []string {
	var names []string
	for _, t := range l.Background {
		names = append(names, t.Name)
	}
	return append(names, l.WakeUps...)
}

// reconcileEnding reports whether the launch is on its way out, and says so.
func (d *transition) reconcileEnding(a *Agent, l *Launch) bool {
	switch l.End {
	case "":
		return false
	case EndFinish:
		d.setStatus(a, checkpoints.Running, "finishing")
	case endPark:
		status := checkpoints.Waiting
		if len(d.Open(a.ID)) == 0 && len(d.waitsFor(a.ID)) > 0 {
			status = checkpoints.Blocked
		}
		d.setStatus(a, status, "is being parked: "+l.EndReason)
	case endRetry:
		d.setStatus(a, checkpoints.Running, l.EndReason+"; will be tried again")
	case endBudget:
		d.setStatus(a, checkpoints.Running, l.EndReason+"; its process ends")
	case EndRecover:
		d.setStatus(a, checkpoints.Starting, "ending what is left of launch "+fmt.Sprint(l.N))
	default:
		d.setStatus(a, checkpoints.Stopping, l.EndReason)
	}
	a.HoldUntil = nil
	return true
}

// reconcileIdle settles an agent that has no process.
func (d *transition) reconcileIdle(id string) {
	a, l := d.agent(id), d.Launch(id)
	open := d.Open(id)
	unsettled := len(d.FindDeliveries(id, waitsForReceipt)) > 0
	surveyed := l == nil || !surveyDue(a, l)
	if surveyed && !unsettled {
		d.sayInterrupted(a)
	}
	switch {
	case a.Placing:
		d.setStatus(a, checkpoints.Starting, "its folder is made ready")
		return // and keeps its place among those that wait for a slot
	case a.Tidying:
		// Nothing begins in a worktree that may be removed.
	case unsettled:
		// The transcript is read before anything is concluded, or said again.
		d.idleStatus(a, l, open)
	case a.StopWanted != "":
		d.finish(a, checkpoints.Stopped, "stopped by "+a.StopWanted)
	case a.Fault != "":
		d.finish(a, checkpoints.Failed, failedBy(a))
	case !surveyed, len(open) > 0:
		d.idleStatus(a, l, open)
	case d.preparing(id) != "":
		d.setStatus(a, checkpoints.Queued, d.preparing(id))
	case d.lacks(a) != nil:
		d.fail(id, faultPredecessor,
			fmt.Sprintf("%s, which it comes after, has not succeeded: %s", Title(d.lacks(a)), d.lacks(a).Status))
		d.finish(a, checkpoints.Failed, a.FaultReason)
	case d.awaits(a) != "":
		d.setStatus(a, checkpoints.Blocked, d.awaits(a))
	case l != nil && l.Turns > 0 && !d.moreToSay(a) && len(d.waitsFor(id)) > 0:
		d.setStatus(a, checkpoints.Blocked, waitsForChildren(titles(d.waitsFor(id))))
	case l != nil && l.Turns > 0 && !d.moreToSay(a) && d.finishIdle(a):
	case d.overBudget(a):
	case d.Run.Leaving == LeavingInterrupted:
		d.idleStatus(a, l, open)
	case d.limited(a):
	case a.NotBefore != nil:
		d.setStatus(a, checkpoints.Queued,
			fmt.Sprintf("%s; tried again at %s", lastWords(l), a.NotBefore.Format(time.RFC3339)))
	default:
		d.wants(a)
		return
	}
	a.QueuedAt = nil
}

// moreToSay reports whether an agent without a process has to be told something before it can be done.
func (d *transition) moreToSay(a *Agent) bool {
	return a.GoOn || len(a.Outbox) > 0 || len(d.FindDeliveries(a.ID, unsent)) > 0
}

// idleStatus says why an agent has no process.
func (d *transition) idleStatus(a *Agent, l *Launch, open []*Question) {
	switch {
	case a.Fault != "" || a.StopWanted != "":
		// Its end is concluded as soon as the transcript is read; until then it is as it was.
	case len(open) > 0:
		d.setStatus(a, checkpoints.Parked, "asks: "+text.FirstLine(open[0].Text))
	case l == nil:
		d.setStatus(a, checkpoints.Queued, "not yet started")
	default:
		d.setStatus(a, checkpoints.Interrupted, lastWords(l))
	}
}

// lastWords says why a launch has ended, as well as it is known.
func lastWords(l *Launch) string {
	if l.EndReason != "" {
		return l.EndReason
	}
	return l.Outcome
}

// finishIdle ends an agent whose process is gone and to whom nothing is left to say; false if it must be told what
// is missing first.
func (d *transition) finishIdle(a *Agent) bool {
	switch r := a.Report; {
	case partDue(a) != nil:
		d.setStatus(a, a.Status, "the deliverables of its subagents are checked")
	case r == nil:
		d.finish(a, checkpoints.Unreported, d.unreported(a))
	case !r.Checked:
		d.setStatus(a, a.Status, "has reported; its deliverables are checked")
	case d.tellMissing(a):
		return false
	case r.Status == "failed":
		d.finish(a, checkpoints.Failed, "reported failure: "+text.FirstLine(r.Summary))
	case len(r.Missing) > 0:
		d.finish(a, checkpoints.Partial, "deliverables are missing: "+strings.Join(r.Missing, ", "))
	case r.Status == "partial_success":
		d.finish(a, checkpoints.Partial, "reported partial success: "+text.FirstLine(r.Summary))
	default:
		d.finish(a, checkpoints.Succeeded, "reported success")
	}
	return true
}

// unreported says why an agent counts as one that has not reported.
func (d *transition) unreported(a *Agent) string {
	const why = "ended without a report"
	if l := d.last(a.ID); l != nil && l.Foreign != "" && !d.Abilities().UsesOurID {
		return why + "; what it printed as " + text.Line(l.Foreign, maxForeign) + " was ignored"
	}
	return why
}

// maxForeign bounds how much is shown of an id, in bytes.
const maxForeign = 60

// finish ends an agent. Answers that have not reached it are kept in its outbox, should a person revive it.
func (d *transition) finish(a *Agent, status Status, reason string) {
	at := d.at
	if d.tidies(a) {
		return
	}
	d.withdraw(a.ID)
	d.abandon(a)
	a.NotBefore, a.LimitedBy, a.HoldUntil, a.QueuedAt, a.EndedAt = nil, "", nil, nil, &at
	d.setStatus(a, status, reason)
	d.orphan(a)
	d.tellParent(a)
}

// launchAgain makes the agent's next launch and what is said to it first.
func (d *transition) launchAgain(a *Agent) {
	if d.places(a) {
		return
	}
	before := d.Launch(a.ID)
	resumes := d.Abilities().Resumes
	anew := d.Config.Relaunch == Fresh || !resumes
	fresh := before == nil || a.Fresh || anew && before.Begun || !resumes
	if before != nil && anew && !a.Fresh {
		d.abandon(a)
		d.collectAnswers(a.ID) // the answers among it are said in the new one
		a.SessionID = sessionOf(a)
	}
	a.Launches++
	a.Fresh, a.QueuedAt = false, nil
	l := &Launch{Agent: a.ID, N: a.Launches, Epoch: d.Run.Epoch, Phase: checkpoints.LaunchIntended, Resume: !fresh}
	d.addLaunch(l)
	a.HoldUntil = nil
	again := d.FindDeliveries(a.ID, func(v *Delivery) bool { return unsent(v) && v.Prompt() })
	for _, v := range again {
		d.delivery(v.UUID).Launch = l.N
	}
	if len(again) == 0 {
		d.flush(a, l)
	}
	a.GoOn = false
	d.setStatus(a, checkpoints.Starting, fmt.Sprintf("launch %d", l.N))
}

// reconcileRun sets the run's status to its root's, and whether its supervisor may leave.
func (d *transition) reconcileRun() {
	root := d.Agents[d.Run.Root]
	r := d.run()
	status, reason := root.Status, root.Reason
	ended := false
	if !root.Status.Ended() {
		if a := d.waitsForPerson(); a != nil && a != root {
			status, reason = a.Status, Title(a)+" "+a.Reason
		}
	} else if left := d.unended(); len(left) > 0 {
		status, reason = checkpoints.Stopping, "ends what is left: "+text.JoinLimited(titles(left))
	} else if ended = true; d.decisive() != root {
		worst := d.decisive()
		status, reason = worst.Status, Title(worst)+": "+worst.Reason
	}
	if r.Status != status {
		r.Since = d.at
	}
	r.Status, r.Reason = status, reason
	if r.Left != "" {
		return
	}
	if len(d.index.active) > 0 {
		if r.Leaving != LeavingInterrupted {
			r.Leaving = ""
		}
		return
	}
	switch {
	case r.TakenOver != nil: // how it ends is known elsewhere
	case ended:
		r.Leaving = LeavingEnded
		if !d.mergeDue() { // else a supervisor that dies now would leave an ended run to which nobody comes back
			code := ExitCode(d.decisive())
			r.EndedAt, r.ExitCode = root.EndedAt, &code
		}
	case r.Leaving == LeavingInterrupted:
	case d.waitsForPerson() != nil && d.Config.Policy == Park:
		r.Leaving = LeavingParked
	default:
		r.Leaving = ""
	}
}
