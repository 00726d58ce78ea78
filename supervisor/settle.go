package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
)

// settle concludes what follows from the facts after an event: each agent's status and what is begun for it, then
// the run's. It is the same after any event and after a crash, which is why recovery needs no code of its own.
func (d *draft) settle(at time.Time) {
	for _, a := range d.agents() {
		if d.Agents[a.ID].Status.Ended() {
			continue
		}
		d.gather(a.ID, at)
		if d.live(a.ID) != nil {
			d.settleLive(a.ID, at)
		} else {
			d.settleIdle(a.ID, at)
		}
	}
	d.settleRun(at)
}

// gather begins the delivery of complete answers where a process waits in the call that asked, and puts all others
// among what is to be said.
func (d *draft) gather(id string, at time.Time) {
	for _, q := range d.questions(func(q *Question) bool {
		return q.Agent == id && q.State == checkpoints.QuestionAnswered && !q.Delivering
	}) {
		group := d.group(q.Group)
		if d.Questions[q.ID].Delivering || slices.ContainsFunc(group, func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		if q.Kind == checkpoints.AskBlocker && q.Answer == giveUp {
			d.question(q.ID).State = checkpoints.QuestionDelivered // it needs no words
			d.fail(id, "gave_up", "given up by "+q.AnsweredBy+": "+firstLine(q.Text))
			continue
		}
		a := d.agent(id)
		if l := d.held(q); l != nil {
			d.begin(a, l, delivering{key: "answer " + q.Group, tool: q.Tool, reply: toolReply(q.Tool, group), groups: []string{q.Group}}, at)
			continue
		}
		if !slices.ContainsFunc(a.Sayings, func(s checkpoints.Saying) bool { return s.Group == q.Group }) {
			a.Sayings = append(slices.Clip(a.Sayings), checkpoints.Saying{Key: q.Group, Group: q.Group, At: at})
		}
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
	if l.Turn {
		if slices.ContainsFunc(open, func(q *Question) bool { return d.held(q) != nil }) {
			d.wait(a, l, open, at)
			return
		}
		a.HoldUntil = nil
		d.say(a, checkpoints.Running, "at work", at)
		return
	}
	under := d.deliveries(id, func(v *Delivery) bool {
		return v.Launch == l.N && undelivered(v) && v.Tool == nil
	})
	switch {
	case len(under) > 0:
		d.say(a, checkpoints.Running, "reads what was said to it", at)
	case len(open) > 0:
		d.wait(a, l, open, at)
	case len(a.Sayings) > 0 || a.GoOn:
		d.speak(a, l, at)
		d.say(a, checkpoints.Running, "reads what was said to it", at)
	case len(alive(l)) > 0:
		d.say(a, checkpoints.Blocked, "waits for its background work: "+strings.Join(alive(l), ", "), at)
	case a.Report != nil && !a.Report.Checked:
		d.say(a, checkpoints.Running, "has reported; its deliverables are checked", at)
	case d.tellMissing(a, at):
		d.speak(a, l, at)
		d.say(a, checkpoints.Running, "was told which deliverables are missing", at)
	default:
		d.end(id, endFinish, "the work is done")
		d.say(a, checkpoints.Running, "finishing", at)
	}
	if len(open) == 0 {
		a.HoldUntil = nil
	}
}

// alive lists what of the agent's own lives on outside its turns.
func alive(l *Launch) []string { return slices.Concat(l.Background, l.WakeUps) }

// settleEnding tells whether the launch is on its way out, and says so.
func (d *draft) settleEnding(a *Agent, l *Launch, at time.Time) bool {
	switch l.End {
	case "":
		return false
	case endFinish:
		d.say(a, checkpoints.Running, "finishing", at)
	case endPark:
		d.say(a, checkpoints.Waiting, "is being parked: "+l.EndReason, at)
	case endRetry:
		d.say(a, checkpoints.Running, l.EndReason+"; will be tried again", at)
	case endRecover:
		d.say(a, checkpoints.Starting, "ending what is left of launch "+fmt.Sprint(l.N), at)
	default:
		d.say(a, checkpoints.Stopping, l.EndReason, at)
	}
	a.HoldUntil = nil
	return true
}

// wait holds the process for the person, or parks it at once.
func (d *draft) wait(a *Agent, l *Launch, open []*Question, at time.Time) {
	reason := "asks: " + firstLine(open[0].Text)
	if n := len(open); n > 1 {
		reason = fmt.Sprintf("asks %d questions: %s", n, firstLine(open[0].Text))
	}
	switch {
	case !l.Turn && len(alive(l)) > 0:
		a.HoldUntil = nil // parking would kill the background work; it ends by itself and starts a turn
	case d.Config.Hold == 0 || !d.mayHold(a.ID):
		d.end(a.ID, endPark, "no process is held for a question")
		d.settleEnding(a, d.last(a.ID), at)
		return
	case d.Config.Hold == Forever:
		a.HoldUntil = nil
	case a.HoldUntil == nil:
		until := at.Add(d.Config.Hold)
		a.HoldUntil = &until
	}
	d.say(a, checkpoints.Waiting, reason, at)
}

// mayHold tells whether one more process may be held under --max-held.
func (d *draft) mayHold(agent string) bool {
	if d.Config.MaxHeld < 0 {
		return true
	}
	held := 0
	for id, a := range d.Agents {
		if l := d.live(id); id != agent && l != nil && l.End == "" && a.Status == checkpoints.Waiting {
			held++
		}
	}
	return held < d.Config.MaxHeld
}

// tellMissing puts the deliverables that are not there among the sayings, once.
func (d *draft) tellMissing(a *Agent, at time.Time) bool {
	if a.Report == nil || len(a.Report.Missing) == 0 || a.ToldMissing || a.Report.Status == "failed" {
		return false
	}
	a.ToldMissing = true
	a.Sayings = append(slices.Clip(a.Sayings), checkpoints.Saying{
		Key: fmt.Sprintf("missing %d", a.Launches), Text: deliverablesMissing(a.ID, a.Report.Missing), At: at,
	})
	return true
}

// speak turns all that waits for an agent into one prompt for the launch, in the order it happened.
func (d *draft) speak(a *Agent, l *Launch, at time.Time) {
	p := delivering{}
	var keys, texts []string
	for _, s := range a.Sayings {
		keys = append(keys, s.Key)
		if s.Group == "" {
			texts = append(texts, s.Text)
			continue
		}
		p.groups = append(p.groups, s.Group)
		texts = append(texts, d.answerText(d.group(s.Group)))
	}
	switch {
	case !l.Resume && l.Turns == 0:
		keys = append([]string{fmt.Sprintf("prompt %d", l.N)}, keys...)
		texts = append([]string{d.opening(a)}, texts...)
	case len(texts) == 0:
		keys, texts = []string{fmt.Sprintf("go-on %d.%d", l.N, l.Turns)}, []string{goOn(a)}
	}
	p.key, p.text = strings.Join(keys, "+"), strings.Join(texts, "\n\n")
	a.Sayings, a.GoOn = nil, false
	d.begin(a, l, p, at)
}

// settleIdle settles an agent that has no process.
func (d *draft) settleIdle(id string, at time.Time) {
	a, l := d.agent(id), d.launch(id)
	open := d.open(id)
	unsettled := len(d.deliveries(id, waitsForReceipt)) > 0
	surveyed := l == nil || l.Surveyed || l.End == endFinish
	switch {
	case unsettled:
		// The transcript is read before anything is concluded, or said again.
		d.idleStatus(a, l, open, at)
	case a.StopWanted != "":
		d.conclude(a, checkpoints.Stopped, "stopped by "+a.StopWanted, at)
	case a.Fault != "":
		d.conclude(a, checkpoints.Failed, a.FaultReason, at)
	case !surveyed, len(open) > 0:
		d.idleStatus(a, l, open, at)
	case l != nil && l.Turns > 0 && !d.moreToSay(a) && d.concludeIdle(a, at):
	case d.Run.Leaving == leavingInterrupted:
		d.idleStatus(a, l, open, at)
	case a.NotBefore != nil:
		d.say(a, checkpoints.Queued, fmt.Sprintf("%s; tried again at %s", lastWords(l), a.NotBefore.Format(time.RFC3339)), at)
	default:
		d.launchAgain(a, at)
	}
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
	d.withdraw(a.ID)
	d.abandon(a)
	a.NotBefore, a.HoldUntil, a.EndedAt = nil, nil, &at
	d.say(a, status, reason, at)
}

// launchAgain makes the agent's next launch and what is said to it first.
func (d *draft) launchAgain(a *Agent, at time.Time) {
	before := d.launch(a.ID)
	fresh := before == nil || a.Fresh || d.Config.Relaunch == Fresh && before.Heard
	if before != nil && d.Config.Relaunch == Fresh && !a.Fresh {
		d.abandon(a)
		a.SessionID = sessionOf(a)
	}
	a.Launches++
	a.Fresh = false
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
	if r.Status != root.Status {
		r.Since = at
	}
	r.Status, r.Reason = root.Status, root.Reason
	if r.Left != "" {
		return
	}
	for id := range d.Agents {
		if d.live(id) != nil {
			if r.Leaving != leavingInterrupted {
				r.Leaving = ""
			}
			return
		}
	}
	switch {
	case root.Status.Ended():
		code := ExitCode(root)
		r.Leaving, r.EndedAt, r.ExitCode = leavingEnded, root.EndedAt, &code
	case r.Leaving == leavingInterrupted:
	case root.Status == checkpoints.Parked && d.Config.Policy == Park:
		r.Leaving = leavingParked
	default:
		r.Leaving = ""
	}
}
