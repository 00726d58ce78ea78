package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"claude-supervise/checkpoints"
)

// An Event is what happened. It carries all that Step needs to know: new ids, what was read from the world. Its fields
// survive JSON unchanged. A new kind of event is a type with apply, and its name beside it (see kind).
type Event interface {
	// apply makes of the state of a transition what it is after the event. The error is ErrUnwelcome, of an event that
	// comes too late or twice: the transition is then given up.
	apply(d *transition) error

	// An event may have further methods, beside its apply:
	//
	//	checksInbox() bool  it shuts out what may lie in the inbox unseen (see MustCheckInbox)
	//	mayBeLost() bool    a power cut may undo it (see MayBeLost)
	//	unsupervised()      it happens to a run that nobody supervises: nothing follows from it before somebody does
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

// Record returns the event as history keeps it.
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

// ErrUnwelcome is the error of an event that comes too late or twice and changes nothing: an answer to a question
// that is closed, a receipt of a launch that is over.
var ErrUnwelcome = errors.New("unwelcome event")

func unwelcome(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnwelcome, fmt.Sprintf(format, args...))
}

// unsupervised reports whether an event happens to a run that nobody supervises.
func unsupervised(e Event) bool {
	_, is := e.(interface{ unsupervised() })
	return is
}
