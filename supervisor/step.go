package supervisor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
)

// ErrUnwelcome is the error of an event that comes too late or twice and changes nothing: an answer to a question
// that is closed, a receipt of a launch that is over.
var ErrUnwelcome = errors.New("unwelcome event")

func unwelcome(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnwelcome, fmt.Sprintf(format, args...))
}

// Step gives the state after an event. It is pure: no clock, randomness, I/O or goroutine. An event that cannot
// happen panics (a bug: everything saved so far is kept); one that is merely unwelcome returns the state unchanged
// and an error that is ErrUnwelcome.
func Step(s State, e Event) (State, error) {
	if c, ok := e.Body.(Created); ok {
		return created(s, c, e.At), nil
	}
	if s.Run == nil {
		panic(fmt.Sprintf("supervisor: %T before the run was created", e.Body))
	}
	d := newDraft(s)
	if err := d.step(e.Body, e.At); err != nil {
		return s, err
	}
	d.settle(e.At)
	return d.State, nil
}

func (d *draft) step(body Body, at time.Time) error {
	switch b := body.(type) {
	case Opened:
		d.opened(b, at)
	case Started:
		return d.started(b, at)
	case TurnBegun:
		return d.turnBegun(b)
	case Heard:
		return d.heard(b, at)
	case Asked:
		return d.asked(b, at)
	case AskCancelled:
		return d.askCancelled(b)
	case GateAsked:
		return d.gateAsked(b)
	case GateReplied:
		return d.gateReplied(b)
	case BackgroundChanged:
		return d.onLaunch(b.Agent, b.Launch, func(l *Launch) { l.Background = b.Tasks })
	case TurnEnded:
		return d.turnEnded(b, at)
	case Sent:
		return d.sent(b)
	case Received:
		return d.received(b)
	case Confirmed:
		return d.confirmed(b)
	case Ended:
		return d.ended(b, at)
	case Surveyed:
		return d.surveyed(b, at)
	case Checked:
		return d.checked(b)
	case Noticed:
		d.question(b.Question).Noticed = d.Run.Epoch
	case Noted:
		d.noted(b.Notes)
	case HoldEnded:
		return d.holdEnded(b)
	case RetryDue:
		d.agent(b.Agent).NotBefore = nil
	case InterruptAsked:
		d.run().Leaving = leavingInterrupted
	case Left:
		r := d.run()
		r.Left, r.PID = r.Leaving, 0
	default:
		panic(fmt.Sprintf("supervisor: no step for %T", body))
	}
	return nil
}

// Why a supervisor leaves on purpose.
const (
	leavingEnded       = "ended"
	leavingParked      = "parked"
	leavingInterrupted = "interrupted"
)

// Why a launch is ended. Each is the name of the effect that does it.
const (
	endFinish    = "finish"    // all is done: stdin is closed
	endPark      = "park"      // waits for a person: the process goes, the question stays
	endStop      = "stop"      // a person's stop
	endInterrupt = "interrupt" // the supervisor leaves
	endFail      = "fail"      // the agent has failed, its process still lives
	endRetry     = "retry"     // a passing failure: launched again later
	endRecover   = "recover"   // of an earlier supervisor, whose hold on it is lost
)

func created(s State, c Created, at time.Time) State {
	if s.Run != nil {
		panic("supervisor: run created twice")
	}
	root := &Agent{
		ID: c.Agent, Run: c.Run, Task: c.Task, Status: checkpoints.Queued, Reason: "not yet started", Since: at,
	}
	root.SessionID = sessionOf(root)
	return State{
		Run: &Run{
			ID: c.Run, Name: c.Name, Cwd: c.Cwd, Root: c.Agent, Status: checkpoints.Queued, Reason: "not yet started",
			Since: at, StartedAt: at, Config: encode(c.Config),
		},
		Config:   c.Config,
		Agents:   map[string]*Agent{c.Agent: root},
		Launches: map[string][]*Launch{}, Questions: map[string]*Question{}, Deliveries: map[string]*Delivery{},
	}
}

func (d *draft) opened(b Opened, at time.Time) {
	r := d.run()
	r.Epoch++
	r.PID, r.Bell, r.Left, r.Leaving, r.EndedAt, r.ExitCode = b.PID, b.Bell, "", "", nil, nil
	d.Config.Policy = b.Policy
	if b.Claude != "" {
		d.Config.Claude = b.Claude
	}
	r.Config = encode(d.Config)
	for _, a := range d.agents() {
		if b.Revive && Revivable(a) {
			a := d.agent(a.ID)
			a.EndedAt, a.StopWanted, a.Fault, a.FaultReason, a.Failures, a.SentOn = nil, "", "", "", 0, false
			a.Report, a.ToldMissing, a.GoOn = nil, false, true
			d.say(a, checkpoints.Queued, "resumed by a person", at)
		}
		if l := d.live(a.ID); l != nil {
			l = d.last(a.ID)
			l.End, l.EndReason, l.Gate = endRecover, "its supervisor is gone", nil
		}
	}
	d.noted(b.Notes)
	for _, a := range d.agents() {
		if open := d.open(a.ID); b.Policy == Fail && len(open) > 0 {
			d.refuse(open[0])
		}
	}
}

// Revivable tells whether resume goes on with an agent that has ended: one that reported has said its last word.
func Revivable(a *Agent) bool {
	switch a.Status {
	case checkpoints.Unreported, checkpoints.Stopped:
		return true
	case checkpoints.Failed:
		return a.Fault != ""
	}
	return false
}

// The kinds of note that a run takes.
const (
	noteAnswer = checkpoints.NoteAnswer
	noteChange = checkpoints.NoteChange
	noteStop   = "stop"
)

// noted takes what lies in the inbox. A note that comes too late changes nothing: who left it was told so, or the record
// shows it.
func (d *draft) noted(notes []Note) {
	for _, n := range notes {
		d.Taken = max(d.Taken, n.Seq)
		q := d.Questions[n.Question]
		switch {
		case n.Kind == noteStop:
			d.stop(n)
		case q == nil:
		case n.Kind == noteAnswer && q.State == checkpoints.QuestionOpen,
			n.Kind == noteChange && (q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && !q.Delivering):
			d.answer(n)
		}
	}
}

// stop wants the end of an agent (the root where the note names none) and, unless only that is meant, of what it
// started.
func (d *draft) stop(n Note) {
	id := n.Agent
	if id == "" {
		id = d.Run.Root
	}
	for _, a := range d.agents() {
		if a.ID == id && !a.Status.Ended() {
			d.agent(a.ID).StopWanted = n.By
		}
		if a.Parent == id && !n.Only {
			below := n
			below.Agent = a.ID
			d.stop(below)
		}
	}
}

// answer takes an answer. What is done with it, settle decides.
func (d *draft) answer(n Note) {
	q := d.question(n.Question)
	at := n.At
	q.State, q.Answer, q.Skipped, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionAnswered, n.Value, n.Skip, &at, n.By
}

func (d *draft) holdEnded(b HoldEnded) error {
	l := d.live(b.Agent)
	if l == nil || l.N != b.Launch || l.End != "" || d.Agents[b.Agent].HoldUntil == nil {
		return unwelcome("%s does not hold any more", b.Agent)
	}
	d.end(b.Agent, endPark, "the hold ended")
	return nil
}

func (d *draft) checked(b Checked) error {
	a := d.agent(b.Agent)
	if a.Report == nil {
		return unwelcome("%s has no report", b.Agent)
	}
	report := *a.Report
	report.Checked, report.Missing = true, b.Missing
	a.Report = &report
	return nil
}

// withdraw closes the agent's questions that nobody needs to answer any more.
func (d *draft) withdraw(agent string) {
	for _, q := range d.open(agent) {
		d.question(q.ID).State = checkpoints.QuestionWithdrawn
	}
}

// current gives the agent's launch n, if that lives.
func (d *draft) current(agent string, n int) (*Launch, error) {
	l := d.live(agent)
	if l == nil || l.N != n {
		return nil, unwelcome("launch %d of %s is over", n, agent)
	}
	return l, nil
}

// onLaunch changes a launch that lives.
func (d *draft) onLaunch(agent string, n int, change func(*Launch)) error {
	if _, err := d.current(agent, n); err != nil {
		return err
	}
	change(d.last(agent))
	return nil
}

// onEnded changes a launch that has ended and is still the agent's last.
func (d *draft) onEnded(agent string, n int, change func(*Launch)) error {
	if l := d.launch(agent); l == nil || l.N != n || l.State != checkpoints.LaunchEnded {
		return unwelcome("launch %d of %s is not the last", n, agent)
	}
	change(d.last(agent))
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
