package view

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
)

// A Snapshot is how a run stands at one moment, and what has happened to it since the one before.
type Snapshot struct {
	Run  RunView
	Open []*supervisor.Question // that wait for an answer, oldest first
	News []notice.Notification  // in the words of who supervises it; of the first sight, the questions that are open

	State supervisor.State
}

// Attend gives how a run stands, and again each time something of it has changed, until it has ended or nobody
// supervises it: the last sight says so. It blocks until then, or until each gives an error or ctx ends, whose cause is
// then the error. It changes nothing; what agents say is not in it, but in their logs.
func (r Reader) Attend(ctx context.Context, run string, each func(Snapshot) error) error {
	a := Attending{Run: run, Said: map[int64]supervisor.InboxEntry{}}
	return r.follow(ctx, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		view, err := now.Run(ctx, run)
		if err != nil {
			return nil, false, err
		}
		// The records are read after the view: of a run that goes on no more, they are the last.
		s, err := a.Look(ctx, now)
		if err != nil {
			return nil, false, err
		}
		s.Run = view
		return []RunView{view}, view.GoesOn(), each(s)
	})
}

// The types of notice that only Attend gives: a person has left a message (Text) for an agent, and the agent reads it.
// Of one that was left before the first sight the text and whose it is are not known.
const (
	MessageLeft notice.Type = "message"
	MessageRead notice.Type = "message_read"
)

// Attending is what one Attend has seen so far.
type Attending struct {
	Run    string
	before *supervisor.State
	last   int64                           // the last event seen
	Said   map[int64]supervisor.InboxEntry // messages that were left and are not read yet, by Seq
}

// Look returns how the run stands, and what has happened since the last look.
func (a *Attending) Look(ctx context.Context, r Reader) (Snapshot, error) {
	l, err := r.Store.Load(ctx, a.Run)
	if err != nil {
		return Snapshot{}, err
	}
	after, err := supervisor.Loaded(l)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{State: after,
		Open: after.FindQuestions(func(q *supervisor.Question) bool { return q.State == checkpoints.QuestionOpen })}
	before := after
	if a.before != nil {
		events, err := r.Store.Events(ctx, a.Run, a.last)
		if err != nil {
			return Snapshot{}, err
		}
		before, s.News = *a.before, a.happened(events, l.LastEvent, after)
		for _, n := range supervisor.Notifications(before, after, supervisor.Happened{At: checkpoints.Now()}) {
			s.News = append(s.News, dated(n))
		}
		s.News = append(s.News, a.read(before, after)...)
	}
	// Several things may have happened since the last look: they are told in their order.
	slices.SortStableFunc(s.News, func(m, n notice.Notification) int { return m.Time.Compare(n.Time) })
	for _, q := range s.Open {
		if a.before == nil || before.Questions.Get(q.ID) == nil {
			s.News = append(s.News, notice.Asking(q))
		}
	}
	a.before, a.last = &after, l.LastEvent
	return s, nil
}

// happened tells what events say by themselves, beside what they change. One of a kind that this version does not know
// tells nothing: a newer one may supervise the run.
func (a *Attending) happened(events []checkpoints.Event, last int64, after supervisor.State) []notice.Notification {
	var ns []notice.Notification
	for _, record := range events {
		e, err := supervisor.Recorded(record)
		if err != nil || record.Seq > last {
			continue // what came after the records were read is of the next look
		}
		ns = append(ns, supervisor.Notifications(after, after, e)...)
		b, _ := e.Event.(supervisor.InboxRead)
		for _, n := range b.Notes {
			if n.Kind == supervisor.EntryMessage {
				a.Said[n.Seq] = n
				ns = append(ns,
					notice.Notification{Time: n.At, Run: a.Run, Agent: n.Agent, Type: MessageLeft, Text: n.Value,
						By: n.By})
			}
		}
	}
	return ns
}

// dated returns a notice of a change the time of that.
func dated(n notice.Notification) notice.Notification {
	switch {
	case n.Question != nil && n.Question.AnsweredAt != nil:
		n.Time = *n.Question.AnsweredAt
	case n.State != nil && n.Type != notice.Reported:
		n.Time = n.State.Since
	}
	return n
}

// messageKey is the part of a delivery's key that says which message it carries.
var messageKey = text.Lazily(`^message (\d+)$`)

// read tells which messages of people agents have begun to read.
func (a *Attending) read(before, after supervisor.State) []notice.Notification {
	reads := func(d *supervisor.Delivery) bool {
		return d != nil && (d.State == checkpoints.DeliveryStarted || d.State == checkpoints.DeliveryDelivered)
	}
	var ns []notice.Notification
	for _, agent := range after.AllAgents() {
		for _, d := range after.FindDeliveries(agent.ID,
			func(d *supervisor.Delivery) bool { return reads(d) && !reads(before.Deliveries.Get(d.UUID)) }) {
			for key := range strings.SplitSeq(d.Key, "+") {
				m := messageKey().FindStringSubmatch(key)
				if m == nil {
					continue
				}
				n := notice.Notification{Time: checkpoints.Now(), Run: a.Run, Agent: agent.ID, Type: MessageRead}
				if seq, err := strconv.ParseInt(m[1], 10, 64); err == nil {
					n.Text, n.By = a.Said[seq].Value, a.Said[seq].By
					delete(a.Said, seq)
				}
				ns = append(ns, n)
			}
		}
	}
	return ns
}

// DeliveryForecast says what becomes of a message that is left now for an agent, or, where agent is "", for the root of
// the run. The error is ErrEnded where nobody would read it any more.
func (s Snapshot) DeliveryForecast(agent string) (string, error) {
	if agent == "" {
		agent = s.State.Run.Root
	}
	a := s.State.Agents.Get(agent)
	if a.Status.Ended() || s.Run.EndedAt != nil {
		return "", fmt.Errorf("nothing was sent to %s (%s: %s): %w", agent, a.Status, a.Reason, supervisor.ErrEnded)
	}
	return s.forecast(a), nil
}

// forecast is Becomes for an agent that has not ended.
func (s Snapshot) forecast(a *supervisor.Agent) string {
	if !s.Run.GoesOn() {
		return "It is kept: the agent reads it when the run continues."
	}
	if s.Run.Suspended {
		return "It is kept: the run is suspended; " + s.Run.HowToContinue() + "."
	}
	var asked string
	if open := s.State.Open(a.ID); len(open) > 0 {
		asked = open[0].ID
	}
	l := s.State.Live(a.ID)
	switch {
	case a.NotBefore != nil:
		return fmt.Sprintf("It is kept: the agent reads it when it continues, at %s.", Clock(*a.NotBefore))
	case l == nil && asked != "":
		return fmt.Sprintf("It is kept: the agent reads it once %s is answered.", asked)
	case l == nil || l.Phase == checkpoints.LaunchIntended || l.Phase == checkpoints.LaunchTurnDue:
		return "The agent reads it as soon as it has started."
	case l.End != "" || !s.State.Abilities().TakesInput:
		return "It is kept: the agent reads it when it is started again."
	case l.Phase.InTurn() && !claude.ReleaseOf(l.Version).TakesMidTurn:
		return "The agent reads it when its turn has ended."
	case l.Phase.InTurn() && asked != "":
		return fmt.Sprintf("The agent reads it once %s is answered: its call waits for that.", asked)
	case l.Phase.InTurn():
		return "The agent reads it in the turn that is under way."
	}
	return "The agent reads it now, in a turn of its own."
}

// Snapshot returns how the run stands that an id or its start names, and the agent if it names one.
func (r Reader) Snapshot(ctx context.Context, id string) (s Snapshot, agent string, err error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	if err != nil {
		return Snapshot{}, "", err
	}
	view, err := r.Run(ctx, run)
	if err != nil {
		return Snapshot{}, "", err
	}
	a := Attending{Run: run}
	s, err = a.Look(ctx, r)
	s.Run = view
	return s, agent, err
}
