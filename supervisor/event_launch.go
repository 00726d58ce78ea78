package supervisor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
)

// Started says that a launch's process runs.
type Started struct {
	Agent      string
	Launch     int
	PID        int
	StartTicks uint64
}

var _ = kind[Started]("started")

func (e Started) apply(d *transition) error {
	at := d.at
	l := d.Live(e.Agent)
	if l == nil || l.N != e.Launch || l.Phase != checkpoints.LaunchIntended {
		return unwelcome("launch %d of %s was not intended", e.Launch, e.Agent)
	}
	l = d.last(e.Agent)
	l.PID, l.StartTicks, l.StartedAt = e.PID, e.StartTicks, &at
	begins(d.agent(e.Agent), at)
	if d.Abilities().TakesInput {
		enter(l, checkpoints.LaunchIdle)
	} else { // it was started with its prompt, and its one turn has begun
		enter(l, checkpoints.LaunchTurn)
		l.Begun = true
		for _, v := range d.unsentTo(e.Agent, l.N) {
			d.arrived(v.UUID)
		}
	}
	return nil
}

// HoldEnded says that a process has waited long enough.
type HoldEnded struct {
	Agent  string
	Launch int
}

var _ = kind[HoldEnded]("hold_ended")

func (e HoldEnded) apply(d *transition) error {
	l := d.Live(e.Agent)
	if l == nil || l.N != e.Launch || l.End != "" || d.Agents[e.Agent].HoldUntil == nil {
		return unwelcome("%s does not hold any more", e.Agent)
	}
	d.end(e.Agent, endPark, "the hold ended")
	return nil
}

// Stalled says that a process at work has printed nothing and used no processor for as long as the person
// lets it.
type Stalled struct {
	Agent  string
	Launch int
	Since  time.Time
	Doing  string
}

var _ = kind[Stalled]("fell_silent")

// apply takes note of a silence, and does about it what the person wants done.
func (e Stalled) apply(d *transition) error {
	a := d.Agents[e.Agent]
	if l, err := d.current(e.Agent, e.Launch); err != nil || l.End != "" || !d.watched(a, l) {
		return unwelcome("%s is not watched any more", e.Agent)
	}
	if l := d.last(e.Agent); l.Phase == checkpoints.LaunchTurnDue { // the turn does not come by itself
		enter(l, checkpoints.LaunchIdle)
		d.agent(e.Agent).GoOn = true
		return nil
	}
	d.last(e.Agent).Stalled = &checkpoints.Stall{Since: e.Since, Doing: e.Doing}
	switch f := (procs.Failure{Kind: faultSilent, Reason: silence(e.Since, e.Doing)}); d.Config.OnSilence {
	case RetrySilence:
		f.Passing = true
		d.failure(d.agent(e.Agent), f)
	case FailSilence:
		d.failure(d.agent(e.Agent), f)
	}
	return nil
}

// faultSilent is the failure of a process of which nothing is heard any more.
const faultSilent procs.FailureKind = "silent"

// silence says in words since when nothing is heard of a process, and what it was last seen to do.
func silence(since time.Time, doing string) string {
	return fmt.Sprintf("silent since %s, no output and no processor time: %s", since.UTC().Format(time.RFC3339), doing)
}

// Recovered says that a silent process has printed something.
type Recovered struct {
	Agent  string
	Launch int
}

var _ = kind[Recovered]("spoke")

func (e Recovered) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) { l.Stalled = nil })
}

// Ended says that a launch has no process any more, nor anything that carries its marker.
type Ended struct {
	Agent     string
	Launch    int
	Failure   procs.Failure
	Outcome   string // for people: "exit 143", "killed by SIGKILL"
	Survivors []string
	Foreign   string `json:",omitempty"` // see Listener

	// What was used since the last result, as far as it is known.
	CostUSD                   float64 `json:",omitempty"`
	InputTokens, OutputTokens int64   `json:",omitempty"`
	CacheRead, CacheCreation  int64   `json:",omitempty"`
}

var _ = kind[Ended]("ended")

func (e Ended) apply(d *transition) error {
	at := d.at
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	l, a := d.last(e.Agent), d.agent(e.Agent)
	done := l.End == endBudget && reportedLast(a, l)
	d.broken(a, l, e)
	can := d.Abilities()
	waited := len(d.Open(a.ID)) > 0 || !can.TakesInput &&
		d.answered(a.ID) // before answers that it has read count as unread again
	switch {
	case can.KeepsTranscript:
		d.markUncertain(a.ID, l, e.Failure.Kind == procs.Crashed)
	case l.End != "" || e.Failure.Kind != "":
		d.retract(a.ID, l)
	}
	turn, due, end := l.Phase.InTurn(), l.Phase == checkpoints.LaunchTurnDue, l.End
	if !can.TakesInput && end == "" && e.Failure.Kind != procs.NotStarted {
		turn = false
		l.Turns++
	}
	d.clientsGone(a.ID)
	if turn {
		d.unseen(a.ID, checkpoints.Turn{Launch: l.N, Before: l.Turns})
		a.ReportRequested = false // the turn in which it was to report has been cut short
	}
	d.loseServers(l)
	enter(l, checkpoints.LaunchEnded)
	l.EndedAt, l.Outcome, l.Foreign, l.Gate = &at, e.Outcome, e.Foreign, nil
	a.HoldUntil = nil
	lost := len(Alive(l)) > 0 || due || d.reads(l)
	l.Background, l.WakeUps, l.BusyElsewhere, l.Replies = nil, nil, false, nil
	a.GoOn = a.GoOn || turn && !done || lost

	switch {
	case end == EndFinish:
		a.GoOn = false
	case end == endFail:
		// The fault was set when it was decided.
		if a.Fault == string(procs.HookRefused) && !l.Resume && l.Turns == 1 {
			d.abandon(a) // not even its task is in the conversation
			a.Fresh, a.SessionID = true, sessionOf(a)
		}
	case end == endRetry:
		a.GoOn = true
	case end != "":
	case e.Failure.Kind == procs.SessionGone && (l.Resume || a.From != ""), e.Failure.Kind == procs.SessionTaken:
		if !l.Resume && e.Failure.Kind == procs.SessionGone {
			a.From = "" // the conversation that it was to begin with is gone
		}
		d.abandon(a)
		a.Fresh, a.GoOn, a.SessionID = true, true, sessionOf(a)
	case e.Failure.Kind == procs.RefusedFlag && e.Failure.Passing:
		a.Without, a.Fresh = append(slices.Clip(a.Without), e.Failure.Flag), !l.Resume
	case waited && e.Failure.Kind != procs.NotStarted:
		// The process that waited is gone; the question is kept, which is all that parking is.
		l.End, l.EndReason = endPark, "its process ended while it waited ("+e.Outcome+")"
	case turn || lost || l.Turns == 0 || e.Failure.Kind == procs.Exited:
		d.failure(a, e.Failure)
	}
	return nil
}

// reads reports whether a prompt is on its way to the process of a launch, whose turn may not have begun: a turn that
// the CLI began by itself may have come between.
func (d *transition) reads(l *Launch) bool {
	return d.Abilities().TakesInput && len(d.FindDeliveries(l.Agent,
		func(v *Delivery) bool { return v.Launch == l.N && v.Prompt() && undelivered(v) })) > 0
}

// answered reports whether a person has answered what the agent has not read yet.
func (d *transition) answered(agent string) bool {
	return len(d.FindQuestionsOf(agent, func(q *Question) bool { return q.State == checkpoints.QuestionAnswered })) > 0
}

// unwritten is how long what a launch has confirmed may be missing from its transcript after a crash. The CLI writes it
// up to 100 ms late, in which several short turns may end. What it has written, a power cut may undo: Linux lets up to
// 35 s pass before data that no program has waited for is on the disk.
const unwritten = time.Minute

// unwrittenTurns is the same in turns: the machine may have slept between two of them, which says nothing about what was
// written. More than these do not come to their end within 100 ms.
const unwrittenTurns = 5

// lastArrival gives the time of the last delivery to a launch; the zero time if it had none.
func (d *transition) lastArrival(agent string, launch int) (last time.Time) {
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool { return v.Launch == launch }) {
		if v.ArrivedAt.After(last) {
			last = v.ArrivedAt
		}
	}
	return last
}

// markUncertain makes the transcript decide on what was said last to a launch that has ended. A pending delivery may
// have been written all the same. And a process that is killed, or whose machine is, may forget what it has already
// confirmed (see unwritten). That may happen while we end it ourselves, too.
func (d *transition) markUncertain(agent string, l *Launch, crashed bool) {
	a := d.agent(agent)
	if a.Fresh {
		d.abandon(a) // its conversation did not come along with a pack
		return
	}
	killed := crashed || l.End == "" || l.End == EndRecover
	newest := d.lastArrival(agent, l.N)
	goesOn := a.Report == nil || l.Phase.InTurn() || len(a.Outbox) > 0 || d.reads(l)
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
		recent := !v.ArrivedAt.IsZero() && newest.Sub(v.ArrivedAt) < unwritten
		last := killed && (v.Turn >= l.Turns-unwrittenTurns || recent)
		if v.File != "" { // what its script had may be lost with the call that ran it, however that has ended
			last = last && goesOn || l.Phase.InTurn() && v.Turn == l.Turns
		}
		return v.Launch == l.N && (unsent(v) || last && v.State == checkpoints.DeliveryDelivered)
	}) {
		a.GoOn = a.GoOn || unsent(v)
		d.delivery(v.UUID).State = checkpoints.DeliverySent
		d.unread(v)
	}
}

// retract takes back that answers were delivered to a command that has not come to its end: it remembers nothing, so
// they are said again to its next process. One that asks again is given the answers to that instead.
func (d *transition) retract(agent string, l *Launch) {
	if asked := d.FindQuestionsOf(agent, func(q *Question) bool {
		waits := q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && !q.Delivering
		return waits && l.StartedAt != nil && !q.AskedAt.Before(*l.StartedAt)
	}); len(asked) > 0 {
		return
	}
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
		// What its script took is the script's to keep.
		return v.Launch == l.N && v.State == checkpoints.DeliveryDelivered && len(v.Groups) > 0 && v.File == ""
	}) {
		d.drop(v.UUID)
		d.unread(v)
	}
}

// unread takes back that the answers of a delivery were read.
func (d *transition) unread(v *Delivery) {
	for _, q := range d.Groups(v.Groups) {
		if q.State == checkpoints.QuestionDelivered {
			d.question(q.ID).State = checkpoints.QuestionAnswered
		}
	}
}

// abandon gives up what was sent to a session that is gone: it is said again in the next one.
func (d *transition) abandon(a *Agent) {
	for _, v := range d.FindDeliveries(a.ID, undelivered) {
		d.drop(v.UUID)
	}
}

// Surveyed says that the checkpoint of an ended launch is on disk, and what it tells.
type Surveyed struct {
	Agent      string
	Launch     int
	Checkpoint string
	Unread     []Named `json:"Unheard"` // signals of its last turn, if that was lost; most of them are known
	Whole      bool    // that turn came to its end all the same
	After      string  `json:",omitempty"` // the delivery that they come after in the conversation, which so has it

	// ByHook is what hooks of the person's own have decided about calls whose questions are Undecided, by tool use.
	ByHook map[string]*procs.HookDecision `json:",omitempty"`

	// Subagents are those that have asked in a call, by the id of the first question of it.
	Subagents map[string]checkpoints.Subagent `json:",omitempty"`
}

var _ = kind[Surveyed]("surveyed")

// apply takes what was found of a launch that has ended, and hears what was not heard of it.
func (e Surveyed) apply(d *transition) error {
	a := d.agent(e.Agent)
	a.Checkpoint = e.Checkpoint
	if err := d.onEnded(e.Agent, e.Launch, func(l *Launch) { enter(l, checkpoints.LaunchSurveyed) }); err != nil {
		return err
	}
	d.lookedUp(e.Subagents)
	for _, call := range slices.Sorted(maps.Keys(e.ByHook)) {
		d.decidedByHook(e.Agent, call, e.ByHook[call])
	}
	if a.Status.Ended() {
		return nil // stopped or failed meanwhile: nobody answers it any more; revived, it is told to go on
	}
	if v := d.Deliveries[e.After]; v != nil && waitsForReceipt(v) {
		d.arrived(e.After) // what it asks again after an answer is a new question
	}
	for _, n := range e.Unread {
		if hasPart(a, n) {
			continue
		}
		if err := d.signal(e.Agent, n); err != nil && !errors.Is(err, ErrUnwelcome) {
			return err
		}
	}
	if e.Whole {
		a.GoOn = false
		return d.onEnded(e.Agent, e.Launch, func(l *Launch) { l.Turns++ })
	}
	return nil
}

// Why a launch is ended. Each is the name of the effect that does it.
const (
	EndFinish    = "finish"    // all is done: stdin is closed
	endPark      = "park"      // waits for a person: the process goes, the question stays
	endStop      = "stop"      // a person's stop
	endInterrupt = "interrupt" // the supervisor leaves
	endFail      = "fail"      // the agent has failed, its process still lives
	endRetry     = "retry"     // a passing failure: launched again later
	EndRecover   = "recover"   // of an earlier supervisor, whose hold on it is lost
	endBudget    = "budget"    // the agent may use no more
)

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

// failure decides what a failure of a launch or turn means: another try, or the end.
func (d *transition) failure(a *Agent, f procs.Failure) {
	a.Failures++
	if f.Passing && a.Failures <= d.Config.Retries {
		due := d.at.Add(backoff(a.Failures))
		a.NotBefore, a.GoOn = &due, true
		if l := d.Launch(a.ID); l.Phase.Ended() {
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

// current gives the agent's launch n, if that lives.
func (d *transition) current(agent string, n int) (*Launch, error) {
	l := d.Live(agent)
	if l == nil || l.N != n {
		return nil, unwelcome("launch %d of %s is over", n, agent)
	}
	return l, nil
}

// onLaunch changes a launch that lives.
func (d *transition) onLaunch(agent string, n int, change func(*Launch)) error {
	if _, err := d.current(agent, n); err != nil {
		return err
	}
	change(d.last(agent))
	return nil
}

// onEnded changes a launch that has ended and is still the agent's last.
func (d *transition) onEnded(agent string, n int, change func(*Launch)) error {
	if l := d.Launch(agent); l == nil || l.N != n || !l.Phase.Ended() {
		return unwelcome("launch %d of %s is not the last", n, agent)
	}
	change(d.last(agent))
	return nil
}

// namespace is what the uuids of deliveries are derived under. It never changes: a second sending must be the same.
var namespace = uuid.MustParse("6f0a5a0e-3f0c-5d6e-9d51-2b8c7e6f4a10")

// sessionOf derives the id of a new session from how often the agent was launched, so that Step needs no randomness.
func sessionOf(a *Agent) string {
	return uuid.NewSHA1(namespace, fmt.Appendf(nil, "session\x00%s\x00%s\x00%d", a.Run, a.ID, a.Launches)).String()
}
