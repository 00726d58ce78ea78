package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
)

// settle concludes what follows from the facts after an event: the status of each agent that it touches and what is begun for
// it, then the run's. It is the same after any event and after a crash, which is why recovery needs no code of its own.
func (d *draft) settle(at time.Time) {
	d.concernScopes()
	for id := d.unsettled(); id != ""; id = d.unsettled() {
		d.settled[id] = true
		if d.Agents[id].Status.Ended() {
			continue
		}
		d.settleAgent(id, at)
		if a := d.Agents[id]; a.Status.Ended() {
			d.concern(a)
		}
	}
	d.reindex()
	d.dispatch(at)
	d.reindex()
	d.withdrawBudgets()
	d.settleRun(at)
}

// unsettled gives an agent of which something has changed since it was settled, "" if there is none: children come before their
// parents, who are told of their ends.
func (d *draft) unsettled() string {
	next := ""
	for id := range d.touched {
		if !d.settled[id] && (next == "" || d.Agents[id].Seq > d.Agents[next].Seq) {
			next = id
		}
	}
	return next
}

func (d *draft) settleAgent(id string, at time.Time) {
	d.gather(id, at)
	switch {
	case d.Agents[id].Group:
		d.settleGroup(id, at)
	case d.live(id) != nil:
		d.settleLive(id, at)
		d.sayIfSilent(id)
	default:
		d.settleIdle(id, at)
	}
}

// gather begins the delivery of complete answers where a process waits in the call that asked, and puts all others
// among what is to be said.
func (d *draft) gather(id string, at time.Time) {
	d.unpolled(id)
	d.decideCommands(id)
	d.decideBudgets(id, at)
	d.approveChildren(id, at)
	for _, q := range d.questionsOf(id, func(q *Question) bool {
		return q.State == checkpoints.QuestionAnswered && !q.Delivering
	}) {
		group := d.group(q.Group)
		if d.Questions[q.ID].Delivering || slices.ContainsFunc(group, func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		if q.Kind == checkpoints.AskBlocker && resolve(q).how == giveUp {
			d.question(q.ID).State = checkpoints.QuestionDelivered // it needs no words
			d.fail(id, "gave_up", "given up by "+q.AnsweredBy+": "+firstLine(q.Text))
			continue
		}
		if toldByClients(q.Nested) {
			continue
		}
		if q.File != nil && q.File.Polls {
			if l := d.live(id); l != nil && l.End == "" { // else nobody would be there to take it
				d.beginDrop(group)
			}
			continue
		}
		if d.unready(group[0]) != "" {
			continue
		}
		a := d.agent(id)
		if l := d.held(q); l != nil {
			d.begin(a, l, delivering{key: "answer " + q.Group, tool: q.Tool, reply: d.replyTo(group), groups: []string{q.Group}}, at)
			continue
		}
		toSay(a, checkpoints.Saying{Key: q.Group, Group: q.Group, At: at})
	}
}

// say sets an agent's status with its reason; since when is kept while the status stays.
func (d *draft) say(a *Agent, status Status, reason string, at time.Time) {
	if a.Status != status {
		a.Since = at
	}
	a.Status, a.Reason = status, reason
}

// settleLive settles an agent that has a process, or may have one.
func (d *draft) settleLive(id string, at time.Time) {
	a, l := d.agent(id), d.last(id)
	if a.StopWanted != "" {
		d.end(id, endStop, "stopped by "+a.StopWanted)
	}
	if d.Run.Leaving == leavingInterrupted {
		d.end(id, endInterrupt, "the supervisor was interrupted")
	}
	if d.settleEnding(a, l, at) {
		return
	}
	if l.State == checkpoints.LaunchIntended {
		d.say(a, checkpoints.Starting, fmt.Sprintf("launch %d", l.N), at)
		return
	}
	open := d.open(id)
	if d.cut(a, l, open, at) {
		return
	}
	if d.execs() { // what is to be said waits for the end of the process
		a.HoldUntil = nil
		reason := "at work"
		if len(open) > 0 {
			reason = "at work; asks: " + firstLine(open[0].Text)
		}
		d.say(a, checkpoints.Running, reason, at)
		return
	}
	d.speakNow(a, l, at)
	if l.Turn {
		if slices.ContainsFunc(open, func(q *Question) bool { return d.held(q) != nil }) {
			d.wait(a, l, open, at)
			return
		}
		a.HoldUntil = nil
		d.say(a, checkpoints.Running, atWork(a), at)
		return
	}
	switch {
	case d.reads(l):
		d.say(a, checkpoints.Running, "reads what was said to it", at)
	case l.TurnDue: // what is said now would fall into that turn
		d.say(a, checkpoints.Blocked, "its background work has ended; its next turn is about to begin", at)
	case len(open) > 0:
		d.wait(a, l, open, at)
	case d.preparing(id) != "":
		d.say(a, checkpoints.Running, d.preparing(id), at)
	case len(a.Sayings) > 0 || a.GoOn:
		d.speak(a, l, at)
		d.say(a, checkpoints.Running, "reads what was said to it", at)
	case len(alive(l)) > 0:
		d.say(a, checkpoints.Blocked, "waits for its background work: "+strings.Join(alive(l), ", "), at)
	case len(d.waitsFor(id)) > 0:
		d.waitForChildren(a, l, at)
		return
	case a.Report != nil && !a.Report.Checked:
		d.say(a, checkpoints.Running, "has reported; its deliverables are checked", at)
	case d.tellMissing(a, at):
		d.speak(a, l, at)
		d.say(a, checkpoints.Running, "was told which deliverables are missing", at)
	case d.tellUnreported(a, l, at):
		d.speak(a, l, at)
		d.say(a, checkpoints.Running, "was asked for its report", at)
	default:
		d.end(id, endFinish, "the work is done")
		d.say(a, checkpoints.Running, "finishing", at)
	}
	if len(open) == 0 {
		a.HoldUntil = nil
	}
}

// sayIfSilent gives an agent at work of which nothing is heard that as its reason.
func (d *draft) sayIfSilent(id string) {
	l, a := d.live(id), d.Agents[id]
	if l != nil && l.Silent != nil && l.End == "" && (a.Status == checkpoints.Running || a.Status == checkpoints.Blocked) {
		d.agent(id).Reason = silence(l.Silent.Since, l.Silent.Doing)
	}
}

// alive lists what of the agent's own lives on outside its turns.
func alive(l *Launch) []string {
	var names []string
	for _, t := range l.Background {
		names = append(names, t.Name)
	}
	return append(names, l.WakeUps...)
}

// settleEnding tells whether the launch is on its way out, and says so.
func (d *draft) settleEnding(a *Agent, l *Launch, at time.Time) bool {
	switch l.End {
	case "":
		return false
	case endFinish:
		d.say(a, checkpoints.Running, "finishing", at)
	case endPark:
		status := checkpoints.Waiting
		if len(d.open(a.ID)) == 0 && len(d.waitsFor(a.ID)) > 0 {
			status = checkpoints.Blocked
		}
		d.say(a, status, "is being parked: "+l.EndReason, at)
	case endRetry:
		d.say(a, checkpoints.Running, l.EndReason+"; will be tried again", at)
	case endBudget:
		d.say(a, checkpoints.Running, l.EndReason+"; its process ends", at)
	case endRecover:
		d.say(a, checkpoints.Starting, "ending what is left of launch "+fmt.Sprint(l.N), at)
	default:
		d.say(a, checkpoints.Stopping, l.EndReason, at)
	}
	a.HoldUntil = nil
	return true
}

// settleIdle settles an agent that has no process.
func (d *draft) settleIdle(id string, at time.Time) {
	a, l := d.agent(id), d.launch(id)
	open := d.open(id)
	unsettled := len(d.deliveries(id, waitsForReceipt)) > 0
	surveyed := l == nil || !surveyDue(a, l)
	if surveyed && !unsettled {
		d.sayInterrupted(a, at)
	}
	switch {
	case a.Placing:
		d.say(a, checkpoints.Starting, "its folder is made ready", at)
		return // and keeps its place among those that wait for a slot
	case a.Tidying:
		// Nothing begins in a worktree that may be removed.
	case unsettled:
		// The transcript is read before anything is concluded, or said again.
		d.idleStatus(a, l, open, at)
	case a.StopWanted != "":
		d.conclude(a, checkpoints.Stopped, "stopped by "+a.StopWanted, at)
	case a.Fault != "":
		d.conclude(a, checkpoints.Failed, a.FaultReason, at)
	case !surveyed, len(open) > 0:
		d.idleStatus(a, l, open, at)
	case d.preparing(id) != "":
		d.say(a, checkpoints.Queued, d.preparing(id), at)
	case d.lacks(a) != nil:
		d.fail(id, faultPredecessor, fmt.Sprintf("%s, which it comes after, has not succeeded: %s", title(d.lacks(a)), d.lacks(a).Status))
		d.conclude(a, checkpoints.Failed, a.FaultReason, at)
	case d.awaits(a) != "":
		d.say(a, checkpoints.Blocked, d.awaits(a), at)
	case l != nil && l.Turns > 0 && !d.moreToSay(a) && len(d.waitsFor(id)) > 0:
		d.say(a, checkpoints.Blocked, waitsForChildren(titles(d.waitsFor(id))), at)
	case l != nil && l.Turns > 0 && !d.moreToSay(a) && d.concludeIdle(a, at):
	case d.overBudget(a, at):
	case d.Run.Leaving == leavingInterrupted:
		d.idleStatus(a, l, open, at)
	case d.limited(a, at):
	case a.NotBefore != nil:
		d.say(a, checkpoints.Queued, fmt.Sprintf("%s; tried again at %s", lastWords(l), a.NotBefore.Format(time.RFC3339)), at)
	default:
		d.wants(a, at)
		return
	}
	a.QueuedAt = nil
}

// moreToSay tells whether an agent without a process has to be told something before it can be done.
func (d *draft) moreToSay(a *Agent) bool {
	again := d.deliveries(a.ID, func(v *Delivery) bool { return v.State == checkpoints.DeliveryPending })
	return a.GoOn || len(a.Sayings) > 0 || len(again) > 0
}

// idleStatus says why an agent has no process.
func (d *draft) idleStatus(a *Agent, l *Launch, open []*Question, at time.Time) {
	switch {
	case a.Fault != "" || a.StopWanted != "":
		// Its end is concluded as soon as the transcript is read; until then it is as it was.
	case len(open) > 0:
		d.say(a, checkpoints.Parked, "asks: "+firstLine(open[0].Text), at)
	case l == nil:
		d.say(a, checkpoints.Queued, "not yet started", at)
	default:
		d.say(a, checkpoints.Interrupted, lastWords(l), at)
	}
}

// lastWords says why a launch has ended, as well as it is known.
func lastWords(l *Launch) string {
	if l.EndReason != "" {
		return l.EndReason
	}
	return l.Outcome
}

// concludeIdle ends an agent whose process is gone and to whom nothing is left to say; false if it must be told what
// is missing first.
func (d *draft) concludeIdle(a *Agent, at time.Time) bool {
	switch r := a.Report; {
	case r == nil:
		d.conclude(a, checkpoints.Unreported, "ended without a report", at)
	case !r.Checked:
		d.say(a, a.Status, "has reported; its deliverables are checked", at)
	case d.tellMissing(a, at):
		return false
	case r.Status == "failed":
		d.conclude(a, checkpoints.Failed, "reported failure: "+firstLine(r.Summary), at)
	case len(r.Missing) > 0:
		d.conclude(a, checkpoints.Partial, "deliverables are missing: "+strings.Join(r.Missing, ", "), at)
	case r.Status == "partial_success":
		d.conclude(a, checkpoints.Partial, "reported partial success: "+firstLine(r.Summary), at)
	default:
		d.conclude(a, checkpoints.Succeeded, "reported success", at)
	}
	return true
}

// conclude ends an agent. Answers that have not reached it are kept among its sayings, should a person revive it.
func (d *draft) conclude(a *Agent, status Status, reason string, at time.Time) {
	if d.tidies(a, at) {
		return
	}
	d.withdraw(a.ID)
	d.abandon(a)
	a.NotBefore, a.LimitedBy, a.HoldUntil, a.QueuedAt, a.EndedAt = nil, "", nil, nil, &at
	d.say(a, status, reason, at)
	d.orphan(a)
	d.tellParent(a, at)
}

// launchAgain makes the agent's next launch and what is said to it first.
func (d *draft) launchAgain(a *Agent, at time.Time) {
	if d.places(a, at) {
		return
	}
	before := d.launch(a.ID)
	anew := d.Config.Relaunch == Fresh || d.execs()
	fresh := before == nil || a.Fresh || anew && before.Heard || d.execs()
	if before != nil && anew && !a.Fresh {
		d.abandon(a)
		d.gather(a.ID, at) // the answers among it are said in the new one
		a.SessionID = sessionOf(a)
	}
	a.Launches++
	a.Fresh, a.QueuedAt = false, nil
	l := &Launch{Agent: a.ID, N: a.Launches, Epoch: d.Run.Epoch, State: checkpoints.LaunchIntended, Resume: !fresh}
	d.addLaunch(l)
	a.HoldUntil = nil
	again := d.deliveries(a.ID, func(v *Delivery) bool { return v.State == checkpoints.DeliveryPending && v.Tool == nil })
	for _, v := range again {
		d.delivery(v.UUID).Launch = l.N
	}
	if len(again) == 0 {
		d.speak(a, l, at)
	}
	a.GoOn = false
	d.say(a, checkpoints.Starting, fmt.Sprintf("launch %d", l.N), at)
}

// settleRun sets the run's status to its root's, and whether its supervisor may leave.
func (d *draft) settleRun(at time.Time) {
	root := d.Agents[d.Run.Root]
	r := d.run()
	status, reason := root.Status, root.Reason
	ended := false
	if !root.Status.Ended() {
		if a := d.waitsForPerson(); a != nil && a != root {
			status, reason = a.Status, title(a)+" "+a.Reason
		}
	} else if left := d.unended(); len(left) > 0 {
		status, reason = checkpoints.Stopping, "ends what is left: "+few(titles(left))
	} else if ended = true; d.decisive() != root {
		worst := d.decisive()
		status, reason = worst.Status, title(worst)+": "+worst.Reason
	}
	if r.Status != status {
		r.Since = at
	}
	r.Status, r.Reason = status, reason
	if r.Left != "" {
		return
	}
	if len(d.index.active) > 0 {
		if r.Leaving != leavingInterrupted {
			r.Leaving = ""
		}
		return
	}
	switch {
	case ended:
		r.Leaving = leavingEnded
		if !d.mergeDue() { // else a supervisor that dies now would leave an ended run to which nobody comes back
			code := ExitCode(d.decisive())
			r.EndedAt, r.ExitCode = root.EndedAt, &code
		}
	case r.Leaving == leavingInterrupted:
	case d.waitsForPerson() != nil && d.Config.Policy == Park:
		r.Leaving = leavingParked
	default:
		r.Leaving = ""
	}
}
