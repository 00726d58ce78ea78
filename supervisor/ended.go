package supervisor

import (
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

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
	done := l.End == endBudget && a.ReportedIn(l)
	d.broken(a, l, e)
	can := d.Abilities()
	rests := d.restsAssuming(a, l)
	waited := len(d.Open(a.ID)) > 0 || rests || !can.TakesInput &&
		d.answered(a.ID) // before answers that it has read count as unread again
	switch {
	case can.KeepsTranscript:
		d.markUncertain(a.ID, l, e.Failure.Kind)
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
	l.Enter(checkpoints.LaunchEnded)
	l.EndedAt, l.Outcome, l.Foreign, l.Gate = &at, e.Outcome, e.Foreign, nil
	a.HoldUntil = nil
	lost := !rests && (len(l.Alive()) > 0 || due || d.reads(l))
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
	case e.Failure.Kind == procs.PlaceGone && d.notAt(l, e.Failure.Reason):
		a.GoOn = true
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

// markUncertain makes the transcript decide on what was said last to a launch that has ended. A pending delivery may
// have been written all the same. And a process that is killed, or whose machine is, may forget what it has already
// confirmed (see unwritten). That may happen while we end it ourselves, too.
func (d *transition) markUncertain(agent string, l *Launch, failed procs.FailureKind) {
	a := d.agent(agent)
	if a.Fresh {
		d.abandon(a) // its conversation did not come along with a pack
		return
	}
	killed := failed == procs.Crashed || l.End == "" || l.End == EndRecover
	cut := -1 // the turn that has not come to its end
	if l.Phase.InTurn() {
		cut = l.Turns
	} else if failed == procs.CutShort {
		cut = l.Turns - 1
	}
	newest := d.lastArrival(agent, l.N)
	goesOn := a.Report == nil || l.Phase.InTurn() || len(a.Outbox) > 0 || d.reads(l)
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
		recent := !v.ArrivedAt.IsZero() && newest.Sub(v.ArrivedAt) < unwritten
		last := killed && (v.Turn >= l.Turns-unwrittenTurns || recent)
		if v.File != "" { // what its script had may be lost with the call that ran it, however that has ended
			last = last && goesOn || v.Turn == cut
		}
		return v.Launch == l.N && (v.Unsent() || last && v.State == checkpoints.DeliveryDelivered)
	}) {
		a.GoOn = a.GoOn || v.Unsent()
		d.delivery(v.UUID).State = checkpoints.DeliverySent
		d.unread(v)
	}
}

// retract takes back that answers were delivered to a command that has not come to its end: it remembers nothing, so
// they are said again to its next process. One that asks again is given the answers to that instead.
func (d *transition) retract(agent string, l *Launch) {
	if asked := d.FindQuestionsOf(agent, func(q *Question) bool {
		unread := !q.Delivering || q.File != nil && q.File.Drop != "" // its answer may lie where its script has not looked
		waits := q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && unread
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

// lastArrival returns the time of the last delivery to a launch; the zero time if it had none.
func (d *transition) lastArrival(agent string, launch int) (last time.Time) {
	for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool { return v.Launch == launch }) {
		if v.ArrivedAt.After(last) {
			last = v.ArrivedAt
		}
	}
	return last
}

// unwritten is how long what a launch has confirmed may be missing from its transcript after a crash. The CLI writes it
// up to 100 ms late, in which several short turns may end. What it has written, a power cut may undo: Linux lets up to
// 35 s pass before data that no program has waited for is on the disk.
const unwritten = time.Minute

// unwrittenTurns is the same in turns: the machine may have slept between two of them, which says nothing about what
// was written. More than these do not come to their end within 100 ms.
const unwrittenTurns = 5

// answered reports whether a person has answered what the agent has not read yet.
func (d *transition) answered(agent string) bool {
	return len(d.FindQuestionsOf(agent, func(q *Question) bool { return q.State == checkpoints.QuestionAnswered })) > 0
}

// broken takes what a turn has used that was cut by the end of its process. Of what a killed one has cost nobody tells:
// what its tokens would have cost on the average of the agent, else of the run, counts.
func (d *transition) broken(a *Agent, l *Launch, b Ended) {
	var seen checkpoints.Used
	if l.Used != nil {
		seen = *l.Used
	}
	input, output, cost := max(b.InputTokens, seen.InputTokens), max(b.OutputTokens, seen.OutputTokens), b.CostUSD
	if cost == 0 {
		cost = float64(input+output) * d.tokenUSD(a)
	}
	a.InputTokens += input
	a.OutputTokens += output
	a.CacheRead += b.CacheRead
	a.CacheCreation += b.CacheCreation
	a.CostUSD += cost
	a.Turns += seen.Turns
	l.Used = nil
}

// tokenUSD is what a token has cost the agent so far on average, else the run.
func (s State) tokenUSD(a *Agent) float64 {
	if tokens := a.InputTokens + a.OutputTokens; tokens > 0 && a.CostUSD > 0 {
		return a.CostUSD / float64(tokens)
	}
	cost, tokens := 0.0, int64(0)
	for _, other := range s.AllAgents() { // in their order: sums of fractions depend on it
		cost += other.CostUSD
		tokens += other.InputTokens + other.OutputTokens
	}
	if tokens > 0 && cost > 0 {
		return cost / float64(tokens)
	}
	return assumedUSD
}

// assumedUSD is what a token costs where nothing that the run has paid tells: the input of a dear model.
const assumedUSD = 5e-6

// Started says that a launch's process runs.
type Started struct {
	Agent      string
	Launch     int
	PID        int
	StartTicks uint64

	// At is where it continues its conversation, NotAt why not at the calls whose results it was to be told.
	At    string `json:",omitempty"`
	NotAt string `json:",omitempty"`
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
	d.begunAt(l, e.At, e.NotAt)
	d.agent(e.Agent).Begins(at)
	if d.Abilities().TakesInput {
		l.Enter(checkpoints.LaunchIdle)
	} else { // it was started with its prompt, and its one turn has begun
		l.Enter(checkpoints.LaunchTurn)
		l.Begun = true
		for _, v := range d.UnsentTo(e.Agent, l.N) {
			d.arrived(v.UUID)
		}
	}
	return nil
}

func (Started) mayBeLost() bool { return true }
