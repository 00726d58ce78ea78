package supervisor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// An Event is what happened. It carries all that Step needs to know: new ids, what was read from the world. Its fields
// survive JSON unchanged. A new kind of event is a type with apply, and its name beside it (see kind).
type Event interface {
	// apply makes of the state of a transition what it is after the event. The error is ErrUnwelcome, of an event that
	// comes too late or twice: the transition is then given up.
	apply(d *transition) error
}

// Happened is an event with its time. Folding those of a run from the first gives its records.
type Happened struct {
	At    time.Time
	Event Event
}

// kinds and kindNames name every kind of event as history keeps it.
var (
	kinds     = make(map[string]reflect.Type, kindsAbout)
	kindNames = make(map[reflect.Type]string, kindsAbout)
)

// kindsAbout is how many there are about: each command makes these maps as it starts, and has none grow.
const kindsAbout = 56

// kind enters the name of a kind of event. A name, once released, stays.
func kind[E Event](name string) struct{} {
	t := reflect.TypeFor[E]()
	if kinds[name] != nil {
		panic("supervisor: two kinds of event are called " + name)
	}
	kinds[name], kindNames[t] = t, name
	return struct{}{}
}

// Name is the kind of the event, as history keeps it.
func (e Happened) Name() string { return kindNames[reflect.TypeOf(e.Event)] }

// Record gives the event as history keeps it.
func (e Happened) Record(run string, seq int64) (checkpoints.Event, error) {
	doc, err := json.Marshal(e.Event)
	if err != nil {
		return checkpoints.Event{}, fmt.Errorf("event %T cannot be written: %w", e.Event, err)
	}
	return checkpoints.Event{Run: run, Seq: seq, At: e.At, Type: e.Name(), Doc: doc}, nil
}

// Recorded reads an event of history back.
func Recorded(r checkpoints.Event) (Happened, error) {
	t, ok := kinds[r.Type]
	if !ok {
		return Happened{}, fmt.Errorf("event %d of run %s is of an unknown kind %q", r.Seq, r.Run, r.Type)
	}
	p := reflect.New(t)
	if err := json.Unmarshal(r.Doc, p.Interface()); err != nil {
		return Happened{}, fmt.Errorf("event %d of run %s cannot be read: %w", r.Seq, r.Run, err)
	}
	return Happened{At: r.At, Event: p.Elem().Interface().(Event)}, nil
}

// MustCheckInbox reports whether an event shuts out what may lie in the inbox unseen: a question is closed to changes
// (its answer begins its way to an agent, starts one, or has any other effect at once), a script has taken an answer by
// itself, an agent or the run ends (a stop or a message that was accepted before is heard), or the supervisor leaves.
func MustCheckInbox(before, after State, event Happened) bool {
	switch e := event.Event.(type) {
	case Left, FileGone:
		return true
	case LeaseRead: // what was acknowledged, and does not count where the run goes on, is said
		return e.Over != nil
	case Snapshotted:
		return e.Over != nil
	}
	if before.Run != nil && before.Run.EndedAt == nil && after.Run.EndedAt != nil {
		return true
	}
	agents, questions, _ := after.changed(before)
	for _, a := range agents {
		old := before.Agents[a.ID]
		if old == nil || old == a {
			continue
		}
		ends := old.EndedAt == nil && a.EndedAt != nil
		// A client may have told it.
		tells := a.Delegated != nil && a.Delegated.Nested != nil && a.Delegated.Told && !old.Delegated.Told
		if ends || tells {
			return true
		}
	}
	for _, q := range questions {
		if old := before.Questions[q.ID]; q.Closed() && (old == nil || !old.Closed()) {
			return true
		}
	}
	return false
}

// MayBeLost reports whether a power cut may undo an event, and what came of it: it tells of a process of this machine,
// which the same cut ends, or that a question was told of, which the next supervisor does again in any case; and of
// nothing else that anybody was told, or that has effect elsewhere. A supervisor that comes afterwards finds what a
// crash could have left just before the event, and asks the transcript as it does then. So it need not wait for the
// disk; what waits takes it along. Not so where a person's words go to an agent with it: claude's transcript may have
// them after the cut, and it must be known that it is to be looked for them there, or they are said twice.
func MayBeLost(before, after State, event Happened, told []Notification) bool {
	switch e := event.Event.(type) {
	case Created, Started, TurnBegun, TurnEnded, BusyElsewhere, BackgroundChanged, GateAsked, GateReplied, Sent, Received,
		Recovered, SubagentStarted:
	case NotificationSent:
	case SignalRead: // a report is told once it was checked; what a subagent has said nobody finds in the transcript
		if kind := e.Signal.Kind; e.Signal.Inside || kind != signals.Completion && kind != signals.WorkflowComplete {
			return false
		}
	default:
		return false
	}
	return !saysWords(before, after) && !slices.ContainsFunc(told, func(n Notification) bool {
		return n.Type != AgentStarted && n.Type != ResumedNow
	})
}

// saysWords reports whether a step has begun to say answers or messages to an agent, for the first time or again: what
// was dropped may be made again under the same uuid.
func saysWords(before, after State) bool {
	_, _, deliveries := after.changed(before)
	return slices.ContainsFunc(deliveries, func(v *Delivery) bool {
		old := before.Deliveries[v.UUID]
		begun := old == nil || old.Seq != v.Seq
		return begun && (len(v.Groups) > 0 || len(v.Messages) > 0)
	})
}
