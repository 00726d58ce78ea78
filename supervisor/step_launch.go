package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
)

// namespace is what the uuids of deliveries are derived under. It never changes: a second sending must be the same.
var namespace = uuid.MustParse("6f0a5a0e-3f0c-5d6e-9d51-2b8c7e6f4a10")

// sessionOf derives the id of a new session from how often the agent was launched, so that Step needs no randomness.
func sessionOf(a *Agent) string {
	return uuid.NewSHA1(namespace, fmt.Appendf(nil, "session\x00%s\x00%s\x00%d", a.Run, a.ID, a.Launches)).String()
}

// delivering is what a delivery is made of.
type delivering struct {
	key      string // stable within the agent's session
	text     string
	tool     *checkpoints.ToolCall
	reply    json.RawMessage
	groups   []string
	messages []checkpoints.OutboxItem
	now      bool   // it does not wait for the end of a turn
	grant    string // the question whose permission it spends
}

// begin makes a delivery to a launch. From here on the answers that it carries cannot be changed.
func (d *transition) begin(a *Agent, l *Launch, v delivering, at time.Time) {
	for _, g := range v.groups {
		for _, q := range d.Group(g) {
			d.question(q.ID).Delivering = true
		}
	}
	id := uuid.NewSHA1(namespace, []byte(strings.Join([]string{a.Run, a.ID, a.SessionID, v.key}, "\x00")))
	d.addDelivery(&Delivery{
		UUID: id.String(), Agent: a.ID, Key: v.key, State: checkpoints.DeliveryPending, Launch: l.N, Turn: l.Turns,
		Text: v.text, Tool: v.tool, Reply: v.reply, Groups: v.groups, Messages: v.messages, Now: v.now, Grant: v.grant, CreatedAt: at,
	})
}

func (d *transition) started(b Started, at time.Time) error {
	l := d.Live(b.Agent)
	if l == nil || l.N != b.Launch || l.State != checkpoints.LaunchIntended {
		return unwelcome("launch %d of %s was not intended", b.Launch, b.Agent)
	}
	l = d.last(b.Agent)
	l.State, l.PID, l.StartTicks, l.StartedAt = checkpoints.LaunchStarted, b.PID, b.StartTicks, &at
	begins(d.agent(b.Agent), at)
	if d.Execs() { // it was started with its prompt, and its one turn has begun
		l.Turn, l.Begun = true, true
		for _, v := range d.FindDeliveries(b.Agent,
			func(v *Delivery) bool { return v.Launch == l.N && v.State == checkpoints.DeliveryPending }) {
			d.arrived(v.UUID)
		}
	}
	return nil
}

func (d *transition) sent(b Sent) error {
	v := d.Deliveries[b.UUID]
	if v == nil || v.State != checkpoints.DeliveryPending || v.Launch != b.Launch {
		return unwelcome("delivery %s is not pending", b.UUID) // its receipt may have been faster
	}
	d.delivery(b.UUID).State = checkpoints.DeliverySent
	d.inTurn(v, b.Launch)
	return nil
}

// inTurn says that a prompt has begun a turn of the launch, or is about to. What is said into a turn that is under way may
// begin none.
func (d *transition) inTurn(v *Delivery, launch int) {
	if l := d.Live(v.Agent); l != nil && l.N == launch && v.Tool == nil && !v.Now {
		d.last(v.Agent).Turn = true
	}
}

func (d *transition) received(b Received) error {
	v := d.Deliveries[b.UUID]
	if v == nil || !undelivered(v) {
		return unwelcome("delivery %s does not wait for a receipt", b.UUID)
	}
	if _, err := d.current(v.Agent, v.Launch); err != nil {
		return err
	}
	if v.Tool != nil {
		d.arrived(b.UUID)
		return nil
	}
	l := d.last(v.Agent)
	if b.State == checkpoints.DeliveryStarted {
		d.delivery(b.UUID).State = b.State
		d.inTurn(v, l.N)
		return nil
	}
	if v.State != checkpoints.DeliveryStarted && !v.Now {
		// Completed without a turn: the conversation already had it, from a launch that was lost.
		l.Turn = false
		d.agent(v.Agent).GoOn = true
	}
	d.arrived(b.UUID)
	return nil
}

// arrived marks a delivery, and the answers that it carried, as delivered.
func (d *transition) arrived(id string) {
	v := d.delivery(id)
	v.State = checkpoints.DeliveryDelivered
	for _, g := range v.Groups {
		for _, q := range d.Group(g) {
			if q.State == checkpoints.QuestionAnswered {
				d.question(q.ID).State = checkpoints.QuestionDelivered
			}
		}
	}
	if len(v.Groups) > 0 || v.Now {
		d.agent(v.Agent).ReportRequested = false // a person has spoken: what was asked of it before is settled
	}
}

// drop gives a delivery up. The answers and messages that it carried are said in another way.
func (d *transition) drop(id string) {
	v := d.delivery(id)
	v.State = checkpoints.DeliveryDropped
	d.sayAgain(v.Agent, v.Messages)
	if v.Grant != "" {
		d.question(v.Grant).GrantSpent = false
	}
	for _, g := range v.Groups {
		for _, q := range d.Group(g) {
			d.question(q.ID).Delivering = false
		}
	}
}

func (d *transition) confirmed(b Confirmed) error {
	v := d.Deliveries[b.UUID]
	if v == nil || !waitsForReceipt(v) {
		return unwelcome("delivery %s is settled", b.UUID)
	}
	switch {
	case b.Found:
		d.arrived(b.UUID)
	case v.Tool != nil:
		d.drop(b.UUID) // the call is gone: the next prompt restates the question with its answer
	case v.Now:
		d.drop(b.UUID) // its turn is gone: it is said in the next
	default:
		d.delivery(b.UUID).State = checkpoints.DeliveryPending
	}
	return nil
}

// end decides that the agent's process goes. What was decided first holds.
func (d *transition) end(agent, how, reason string) {
	if l := d.Live(agent); l != nil && l.End == "" {
		l = d.last(agent)
		l.End, l.EndReason = how, reason
	}
}

// fail decides that the agent has failed, with or without a process.
func (d *transition) fail(agent, fault, reason string) {
	a := d.agent(agent)
	a.Fault, a.FaultReason = fault, reason
	d.end(agent, endFail, reason)
}

// backoff is how long an agent rests after its nth passing failure in a row.
func backoff(n int) time.Duration {
	return min(time.Second<<(2*min(n-1, 8)), 5*time.Minute)
}

func (d *transition) ended(b Ended, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	l, a := d.last(b.Agent), d.agent(b.Agent)
	d.broken(a, l, b)
	waited := len(d.Open(a.ID)) > 0 || d.Execs() &&
		d.answered(a.ID) // before answers that it has read count as unread again
	switch {
	case !d.Execs():
		d.markUncertain(a.ID, l, b.Failure.Kind == procs.Crashed)
	case l.End != "" || b.Failure.Kind != "":
		d.retract(a.ID, l)
	}
	if d.Execs() && l.End == "" && b.Failure.Kind != procs.NotStarted {
		l.Turn = false
		l.Turns++
	}
	turn, end := l.Turn, l.End
	d.clientsGone(a.ID, at)
	if turn {
		d.unseen(a.ID, checkpoints.Turn{Launch: l.N, Before: l.Turns}, at)
		a.ReportRequested = false // the turn in which it was to report has been cut short
	}
	l.State, l.EndedAt, l.Outcome, l.Turn, l.Gate = checkpoints.LaunchEnded, &at, b.Outcome, false, nil
	a.HoldUntil = nil
	lost := len(Alive(l)) > 0 || l.TurnDue || d.reads(l)
	l.Background, l.WakeUps, l.BusyElsewhere, l.Replies = nil, nil, false, nil
	l.TurnDue, l.StopAllowed, l.BackgroundEndUnreported = false, false, false
	a.GoOn = a.GoOn || turn || lost

	switch {
	case end == EndFinish:
		a.GoOn = false
	case end == endFail:
		// The fault was set when it was decided.
	case end == endRetry:
		a.GoOn = true
	case end != "":
	case b.Failure.Kind == procs.SessionGone && (l.Resume || a.From != ""), b.Failure.Kind == procs.SessionTaken:
		if !l.Resume && b.Failure.Kind == procs.SessionGone {
			a.From = "" // the conversation that it was to begin with is gone
		}
		d.abandon(a)
		a.Fresh, a.GoOn, a.SessionID = true, true, sessionOf(a)
	case b.Failure.Kind == procs.RefusedFlag && b.Failure.Passing:
		a.Without, a.Fresh = append(slices.Clip(a.Without), b.Failure.Flag), !l.Resume
	case waited && b.Failure.Kind != procs.NotStarted:
		// The process that waited is gone; the question is kept, which is all that parking is.
		l.End, l.EndReason = endPark, "its process ended while it waited ("+b.Outcome+")"
	case turn || lost || l.Turns == 0 || b.Failure.Kind == procs.Exited:
		d.failure(a, b.Failure, at)
	}
	return nil
}

// reads reports whether a prompt is on its way to the process of a launch, whose turn may not have begun: a turn that the CLI began
// by itself may have come between.
func (d *transition) reads(l *Launch) bool {
	return !d.Execs() && len(d.FindDeliveries(l.Agent,
		func(v *Delivery) bool { return v.Launch == l.N && v.Tool == nil && undelivered(v) })) > 0
}

// answered reports whether a person has answered what the agent has not read yet.
func (d *transition) answered(agent string) bool {
	return len(d.FindQuestionsOf(agent, func(q *Question) bool { return q.State == checkpoints.QuestionAnswered })) > 0
}

// markUncertain makes the transcript decide on what was said last to a launch that has ended. A pending delivery may have been
// written all the same. And the CLI writes its transcript up to 100 ms late: killed within that time, it forgets what
// it has already confirmed. That may happen while we end it ourselves, too.
func (d *transition) markUncertain(agent string, l *Launch, crashed bool) {
	a := d.agent(agent)
	killed := (crashed || l.End == "" || l.End == EndRecover) && (l.Turn || a.Report == nil)
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
		return v.Launch == l.N && (v.State == checkpoints.DeliveryPending ||
			killed && v.State == checkpoints.DeliveryDelivered && v.Turn >= l.Turns-1)
	}) {
		a.GoOn = a.GoOn || v.State == checkpoints.DeliveryPending
		d.delivery(v.UUID).State = checkpoints.DeliverySent
		for _, g := range v.Groups {
			for _, q := range d.Group(g) {
				if q.State == checkpoints.QuestionDelivered {
					d.question(q.ID).State = checkpoints.QuestionAnswered
				}
			}
		}
	}
}

// retract takes back that answers were delivered to a command that has not come to its end: it remembers nothing, so they are
// said again to its next process. One that asks again is given the answers to that instead.
func (d *transition) retract(agent string, l *Launch) {
	if asked := d.FindQuestionsOf(agent, func(q *Question) bool {
		waits := q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && !q.Delivering
		return waits && l.StartedAt != nil && !q.AskedAt.Before(*l.StartedAt)
	}); len(asked) > 0 {
		return
	}
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
		return v.Launch == l.N && v.State == checkpoints.DeliveryDelivered && len(v.Groups) > 0
	}) {
		d.drop(v.UUID)
		for _, g := range v.Groups {
			for _, q := range d.Group(g) {
				if q.State == checkpoints.QuestionDelivered {
					d.question(q.ID).State = checkpoints.QuestionAnswered
				}
			}
		}
	}
}

// abandon gives up what was sent to a session that is gone: it is said again in the next one.
func (d *transition) abandon(a *Agent) {
	for _, v := range d.FindDeliveries(a.ID, undelivered) {
		d.drop(v.UUID)
	}
}

// failure decides what a failure of a launch or turn means: another try, or the end.
func (d *transition) failure(a *Agent, f procs.Failure, at time.Time) {
	a.Failures++
	if f.Passing && a.Failures <= d.Config.Retries {
		due := at.Add(backoff(a.Failures))
		a.NotBefore, a.GoOn = &due, true
		if l := d.Launch(a.ID); l.State == checkpoints.LaunchEnded {
			d.last(a.ID).EndReason = f.Reason
		}
		d.end(a.ID, endRetry, f.Reason)
		return
	}
	reason := f.Reason
	if f.Passing && d.Config.Retries > 0 {
		reason += " (after " + text.Plural(d.Config.Retries, "retry", "retries") + ")"
	}
	d.fail(a.ID, string(f.Kind), reason)
}
