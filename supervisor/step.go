package supervisor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
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
	d := NewTransition(s)
	if err := d.step(e.Body, e.At); err != nil {
		return s, err
	}
	if !reserved(e.Body) {
		d.reconcile(e.At)
	}
	d.reindex()
	return d.State, nil
}

func (d *transition) step(body Body, at time.Time) error {
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
	case Called:
		return d.called(b, at)
	case Replied:
		return d.replied(b)
	case BusyElsewhere:
		return d.onLaunch(b.Agent, b.Launch, func(l *Launch) { l.BusyElsewhere = b.AtWork })
	case AskCancelled:
		return d.askCancelled(b)
	case GateAsked:
		return d.gateAsked(b, at)
	case GateReplied:
		return d.gateReplied(b)
	case BackgroundChanged:
		return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
			ended := len(b.Tasks) < len(l.Background)
			l.TurnDue = l.TurnDue || ended && !l.Turn
			l.BackgroundEndUnreported = l.BackgroundEndUnreported || ended && l.StopAllowed
			l.Background = b.Tasks
		})
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
	case Prepared:
		return d.prepared(b, at)
	case RanCommand:
		return d.ranCommand(b)
	case FileFound:
		return d.fileFound(b, at)
	case FileGone:
		return d.fileGone(b, at)
	case Dropped:
		return d.dropped(b)
	case Reclaimed:
		return d.reclaimed(b)
	case NotificationSent:
		d.question(b.Question).Noticed = d.Run.Epoch
	case InboxRead:
		d.Noted(b.Notes)
		d.nestings(b.Notes, b.Named, at)
	case HoldEnded:
		return d.holdEnded(b)
	case Stalled:
		return d.stalled(b, at)
	case Recovered:
		return d.onLaunch(b.Agent, b.Launch, func(l *Launch) { l.Stalled = nil })
	case Announced:
		d.run().Announced = b.Leaving
	case RetryDue:
		return d.rested(b)
	case Spent:
		return d.spends(b)
	case Worked:
		return d.worked(b)
	case BudgetAsked:
		return d.budgetAsked(b, at)
	case Overdue:
		return d.isOverdue(b)
	case Throttled:
		return d.throttled(b, at)
	case Unthrottled:
		return d.unthrottled(at)
	case InterruptAsked:
		d.run().Leaving = LeavingInterrupted
		d.touchAll()
	case Packed:
		d.run().Packed = b.File
	case Placed:
		return d.placed(b)
	case Tidied:
		return d.tidied(b)
	case Merged:
		return d.merged(b)
	case Unpacked:
		d.unpacked(b, at)
	case Left:
		if plan := d.Plan(b.Undone); len(plan) != 1 ||
			plan[0].Do != DoLeave { // what came in meanwhile has to be done first
			return unwelcome("the supervisor does not leave any more")
		}
		r := d.run()
		if r.Left, r.PID = r.Leaving, 0; d.mergeDue() {
			r.Left = LeavingInterrupted // while it waited to merge the findings again: the next supervisor does
		}
	default:
		panic(fmt.Sprintf("supervisor: no step for %T", body))
	}
	return nil
}

// Why a supervisor leaves on purpose.
const (
	LeavingEnded       = "ended"
	LeavingParked      = "parked"
	LeavingInterrupted = "interrupted"
)

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

func created(s State, c Created, at time.Time) State {
	if s.Run != nil {
		panic("supervisor: run created twice")
	}
	root := &Agent{
		ID: c.Agent, Run: c.Run, Task: c.Task, Status: checkpoints.Queued, Reason: "not yet started", Since: at,
		SuccessCriteria: c.SuccessCriteria, Deliverables: c.Deliverables, Group: c.Group, From: c.From,
		Budget: bounding(c.Config.Budget), Estimate: ParseEstimate(c.Estimated),
	}
	root.SessionID = sessionOf(root)
	d := NewTransition(State{
		Run: &Run{
			ID: c.Run, Name: c.Name, Cwd: c.Cwd, Root: c.Agent, Status: checkpoints.Queued, Reason: "not yet started",
			Since: at, StartedAt: at, Config: text.JSON(c.Config),
		},
		Config:   c.Config,
		Agents:   map[string]*Agent{c.Agent: root},
		Launches: map[string][]*Launch{}, Questions: map[string]*Question{}, Deliveries: map[string]*Delivery{},
	})
	for _, child := range c.Children {
		if child.Parent == "" {
			child.Parent = root.ID
		}
		d.spawn(child, at)
	}
	return d.State
}

func (d *transition) opened(b Opened, at time.Time) {
	d.touchAll()
	r := d.run()
	r.Epoch++
	r.PID, r.Waker, r.Left, r.Leaving, r.Announced, r.EndedAt, r.ExitCode, r.Merged = b.PID, b.Bell, "", "", "", nil, nil, nil
	d.Config.Policy = b.Policy
	if b.Claude != "" {
		d.Config.Claude = b.Claude
	}
	if len(b.Exec) > 0 && d.Execs() {
		d.Config.Exec = b.Exec
	}
	r.Config = text.JSON(d.Config)
	d.give(b.Given, at)
	back := d.returning(b)
	for _, a := range d.AllAgents() {
		if back[a.ID] {
			d.revive(a.ID, b, back, at)
		}
		if l := d.Live(a.ID); l != nil {
			l = d.last(a.ID)
			l.End, l.EndReason, l.Gate = EndRecover, "its supervisor is gone", nil
		}
	}
	for _, a := range d.AllAgents() { // ends of which nobody was there to be told
		if a.Delegated != nil && a.Status.Ended() && !a.Delegated.Told && !d.Agents[a.Parent].Status.Ended() {
			d.tellParent(d.agent(a.ID), at)
		}
	}
	d.Noted(b.Notes)
	d.nestings(b.Notes, b.Named, at)
	for _, a := range d.AllAgents() {
		if b.Policy != Fail {
			continue
		}
		if open := d.Open(a.ID); len(open) > 0 {
			d.refuse(open[0])
		}
		for _, q := range d.FindQuestionsOf(a.ID, IsOpen) {
			d.refuse(q)
		}
	}
}

// Revivable reports whether resume goes on with an agent that has ended: one that reported has said its last word.
func Revivable(a *Agent) bool {
	switch a.Status {
	case checkpoints.Unreported, checkpoints.Stopped:
		return true
	case checkpoints.Failed:
		return a.Fault != "" || a.Group
	case checkpoints.Partial:
		return a.Group
	}
	return false
}

// brings reports whether resume goes on with an agent that has ended: of the children those that the end of their parent has
// stopped, for their parent goes on too, and those of a group. What became of the others their parent knows.
func (s State) brings(a *Agent) bool {
	p := s.Agents[a.Parent]
	return Revivable(a) && (p == nil || p.Group || a.StopWanted == endOf(p))
}

// The kinds of note that a run takes.
const (
	EntryAnswer = checkpoints.EntryAnswer
	EntryChange = checkpoints.EntryChange
	EntryStop   = "stop"
)

// Noted takes what lies in the inbox. A note that comes too late changes nothing: who left it was told so, or the record
// shows it.
func (d *transition) Noted(notes []InboxEntry) {
	for _, n := range notes {
		d.Taken = max(d.Taken, n.Seq)
		q := d.Questions[n.Question]
		switch {
		case n.Kind == EntryStop:
			d.stop(n)
		case n.Kind == EntryRevoke:
			d.revoke(n)
		case n.Kind == EntryMessage:
			d.message(n)
		case q == nil:
		case n.Kind == EntryAnswer && (q.State == checkpoints.QuestionOpen || ownAnswer(q)),
			n.Kind == EntryChange &&
				(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && !q.Delivering):
			d.answer(n)
		case n.Kind == EntryAnswer && q.State == checkpoints.QuestionWithdrawn && q.AnsweredAt == nil:
			d.answer(n) // accepted before anybody knew that the question is withdrawn: it is kept, though nobody hears it
			d.question(n.Question).State = checkpoints.QuestionWithdrawn
		}
	}
}

// stop wants the end of an agent (the root where the note names none) and, unless only that is meant, of what it
// started.
func (d *transition) stop(n InboxEntry) {
	id := n.Agent
	if id == "" {
		id = d.Run.Root
	}
	switch a := d.Agents[id]; {
	case a == nil:
		return
	case !a.Status.Ended():
		a = d.agent(id)
		a.StopWanted, a.StopOnly = n.By, n.Only
	}
	if n.Only {
		return
	}
	for _, c := range d.Children(id) {
		n.Agent = c.ID
		d.stop(n)
	}
}

// answer takes an answer. What is done with it, settle decides.
func (d *transition) answer(n InboxEntry) {
	q := d.question(n.Question)
	at := n.At
	d.unprepare(q.Group)
	q.State, q.Answer, q.Skipped, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionAnswered, n.Value, n.Skip, &at, n.By
	q.Like, q.Declined, q.ForAllLike = "", n.Decline, n.AllLike && Sharable(q.Kind)
	if no := refusing(q.Kind, n.Value); n.Decline && no != "" {
		q.Answer, q.Declined = no, false
	}
	d.decided(n)
	if q.ForAllLike {
		d.shareAnswer(q)
	}
}

// refusing is the answer that says no to a question of a kind, for a reason; "" where there is none but not to answer.
func refusing(kind checkpoints.QuestionKind, why string) string {
	switch kind {
	case checkpoints.AskPermission:
		return strings.TrimSpace(Deny + " " + why)
	case checkpoints.AskDelegation:
		return strings.TrimSpace(Deny + " " + why)
	case checkpoints.AskCommand:
		return leaveIt
	}
	return ""
}

func (d *transition) holdEnded(b HoldEnded) error {
	l := d.Live(b.Agent)
	if l == nil || l.N != b.Launch || l.End != "" || d.Agents[b.Agent].HoldUntil == nil {
		return unwelcome("%s does not hold any more", b.Agent)
	}
	d.end(b.Agent, endPark, "the hold ended")
	return nil
}

// faultSilent is the failure of a process of which nothing is heard any more.
const faultSilent procs.FailureKind = "silent"

// stalled takes note of a silence, and does about it what the person wants done.
func (d *transition) stalled(b Stalled, at time.Time) error {
	a := d.Agents[b.Agent]
	if l, err := d.current(b.Agent, b.Launch); err != nil || l.End != "" || !d.watched(a, l) {
		return unwelcome("%s is not watched any more", b.Agent)
	}
	if l := d.last(b.Agent); l.TurnDue { // the turn does not come by itself
		l.TurnDue = false
		d.agent(b.Agent).GoOn = true
		return nil
	}
	d.last(b.Agent).Stalled = &checkpoints.Stall{Since: b.Since, Doing: b.Doing}
	switch f := (procs.Failure{Kind: faultSilent, Reason: silence(b.Since, b.Doing)}); d.Config.OnSilence {
	case RetrySilence:
		f.Passing = true
		d.failure(d.agent(b.Agent), f, at)
	case FailSilence:
		d.failure(d.agent(b.Agent), f, at)
	}
	return nil
}

// silence says in words since when nothing is heard of a process, and what it was last seen to do.
func silence(since time.Time, doing string) string {
	return fmt.Sprintf("silent since %s, no output and no processor time: %s", since.UTC().Format("15:04 MST"), doing)
}

func (d *transition) checked(b Checked) error {
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
func (d *transition) withdraw(agent string) {
	for _, q := range d.FindQuestionsOf(agent, IsOpen) {
		d.question(q.ID).State = checkpoints.QuestionWithdrawn
	}
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
	if l := d.Launch(agent); l == nil || l.N != n || l.State != checkpoints.LaunchEnded {
		return unwelcome("launch %d of %s is not the last", n, agent)
	}
	change(d.last(agent))
	return nil
}
