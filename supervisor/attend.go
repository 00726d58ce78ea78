package supervisor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// A Sight is how a run stands at one moment, and what has happened to it since the one before.
type Sight struct {
	Run  RunView
	Open []*Question // that wait for an answer, oldest first
	News []Notice    // in the words of who supervises it; of the first sight, the questions that are open

	state State
}

// Attend gives how a run stands, and again each time something of it has changed, until it has ended or nobody supervises it:
// the last sight says so. It blocks until then, or until each gives an error or ctx ends, whose cause is then the error. It
// changes nothing; what agents say is not in it, but in their logs.
func (r Reader) Attend(ctx context.Context, run string, each func(Sight) error) error {
	a := attending{run: run, said: map[int64]Note{}}
	return r.follow(ctx, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		view, err := now.Run(ctx, run)
		if err != nil {
			return nil, false, err
		}
		// The records are read after the view: of a run that goes on no more, they are the last.
		s, err := a.look(ctx, now)
		if err != nil {
			return nil, false, err
		}
		s.Run = view
		return []RunView{view}, view.GoesOn(), each(s)
	})
}

// The types of notice that only Attend gives: a person has left a message (Text) for an agent, and the agent reads it. Of one
// that was left before the first sight the text and whose it is are not known.
const (
	MessageLeft NoticeType = "message"
	MessageRead NoticeType = "message_read"
)

// attending is what one Attend has seen so far.
type attending struct {
	run    string
	before *State
	last   int64          // the last event seen
	said   map[int64]Note // messages that were left and are not read yet, by Seq
}

// look gives how the run stands, and what has happened since the last look.
func (a *attending) look(ctx context.Context, r Reader) (Sight, error) {
	l, err := r.Store.Load(ctx, a.run)
	if err != nil {
		return Sight{}, err
	}
	after, err := loaded(l)
	if err != nil {
		return Sight{}, err
	}
	s := Sight{state: after, Open: after.questions(func(q *Question) bool { return q.State == checkpoints.QuestionOpen })}
	before := after
	if a.before != nil {
		events, err := r.Store.Events(ctx, a.run, a.last)
		if err != nil {
			return Sight{}, err
		}
		before, s.News = *a.before, a.happened(events, l.LastEvent, after)
		for _, n := range notices(before, after, Event{At: now()}) {
			s.News = append(s.News, dated(n))
		}
		s.News = append(s.News, a.read(before, after)...)
	}
	// Several things may have happened since the last look: they are told in their order.
	slices.SortStableFunc(s.News, func(m, n Notice) int { return m.Time.Compare(n.Time) })
	for _, q := range s.Open {
		if a.before == nil || before.Questions[q.ID] == nil {
			s.News = append(s.News, Asking(q))
		}
	}
	a.before, a.last = &after, l.LastEvent
	return s, nil
}

// happened tells what events say by themselves, beside what they change. One of a kind that this version does not know tells
// nothing: a newer one may supervise the run.
func (a *attending) happened(events []checkpoints.Event, last int64, after State) []Notice {
	var ns []Notice
	for _, record := range events {
		e, err := recorded(record)
		if err != nil || record.Seq > last {
			continue // what came after the records were read is of the next look
		}
		ns = append(ns, notices(after, after, e)...)
		b, _ := e.Body.(Noted)
		for _, n := range b.Notes {
			if n.Kind == noteMessage {
				a.said[n.Seq] = n
				ns = append(ns, Notice{Time: n.At, Run: a.run, Agent: n.Agent, Type: MessageLeft, Text: n.Value, By: n.By})
			}
		}
	}
	return ns
}

// dated gives a notice of a change the time of that.
func dated(n Notice) Notice {
	switch {
	case n.Question != nil && n.Question.AnsweredAt != nil:
		n.Time = *n.Question.AnsweredAt
	case n.State != nil && n.Type != Reported:
		n.Time = n.State.Since
	}
	return n
}

// messageKey is the part of a delivery's key that says which message it carries.
var messageKey = regexp.MustCompile(`^message (\d+)$`)

// read tells which messages of people agents have begun to read.
func (a *attending) read(before, after State) []Notice {
	reads := func(d *Delivery) bool {
		return d != nil && (d.State == checkpoints.DeliveryStarted || d.State == checkpoints.DeliveryDelivered)
	}
	var ns []Notice
	for _, agent := range after.agents() {
		for _, d := range after.deliveries(agent.ID, func(d *Delivery) bool { return reads(d) && !reads(before.Deliveries[d.UUID]) }) {
			for key := range strings.SplitSeq(d.Key, "+") {
				m := messageKey.FindStringSubmatch(key)
				if m == nil {
					continue
				}
				n := Notice{Time: now(), Run: a.run, Agent: agent.ID, Type: MessageRead}
				if seq, err := strconv.ParseInt(m[1], 10, 64); err == nil {
					n.Text, n.By = a.said[seq].Value, a.said[seq].By
					delete(a.said, seq)
				}
				ns = append(ns, n)
			}
		}
	}
	return ns
}

// Becomes says what becomes of a message that is left now for an agent, or, where agent is "", for the root of the run. The
// error is ErrEnded where nobody would read it any more.
func (s Sight) Becomes(agent string) (string, error) {
	if agent == "" {
		agent = s.state.Run.Root
	}
	a := s.state.Agents[agent]
	if a.Status.Ended() || s.Run.EndedAt != nil {
		return "", fmt.Errorf("nothing was sent to %s (%s: %s): %w", agent, a.Status, a.Reason, ErrEnded)
	}
	return s.fate(a), nil
}

// fate is Becomes for an agent that has not ended.
func (s Sight) fate(a *Agent) string {
	if !s.Run.GoesOn() {
		return "It is kept: the agent reads it when the run goes on."
	}
	var asked string
	if open := s.state.open(a.ID); len(open) > 0 {
		asked = open[0].ID
	}
	l := s.state.live(a.ID)
	switch {
	case a.NotBefore != nil:
		return fmt.Sprintf("It is kept: the agent reads it when it goes on, at %s.", a.NotBefore.Local().Format(time.TimeOnly))
	case l == nil && asked != "":
		return fmt.Sprintf("It is kept: the agent reads it once %s is answered.", asked)
	case l == nil || l.State == checkpoints.LaunchIntended || l.TurnDue:
		return "The agent reads it as soon as it has started."
	case l.End != "" || s.state.execs():
		return "It is kept: the agent reads it when it is started again."
	case l.Turn && !procs.ReleaseOf(l.Version).TakesMidTurn:
		return "The agent reads it when its turn has ended."
	case l.Turn && asked != "":
		return fmt.Sprintf("The agent reads it once %s is answered: its call waits for that.", asked)
	case l.Turn:
		return "The agent reads it in the turn that is under way."
	}
	return "The agent reads it now, in a turn of its own."
}

// Sight gives how the run stands that an id or its start names, and the agent if it names one.
func (r Reader) Sight(ctx context.Context, id string) (s Sight, agent string, err error) {
	run, agent, err := runNamed(ctx, r.Store, id)
	if err != nil {
		return Sight{}, "", err
	}
	view, err := r.Run(ctx, run)
	if err != nil {
		return Sight{}, "", err
	}
	a := attending{run: run}
	s, err = a.look(ctx, r)
	s.Run = view
	return s, agent, err
}
