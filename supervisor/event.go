package supervisor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// An Event is one thing that happened. It carries all that Step needs to know: the time, new ids, what was read from
// the world. Folding a run's events from the first gives its records.
type Event struct {
	At   time.Time
	Body Body
}

// A Body is what happened; its fields survive JSON unchanged.
type Body interface{ event() }

type (
	// Created is the first event of a run.
	Created struct {
		Run, Name, Cwd, Agent, Task string
		Config                      Config
	}

	// Opened says that a supervisor has taken the run over: at its start, or to resume it.
	Opened struct {
		PID    int
		Bell   string
		Notes  []Note     // what lay in the inbox: who asks again must know what is answered
		Revive bool       // go on with agents that failed or were stopped
		Claude string     // another claude than before; "": the same
		Policy OnQuestion // what this supervisor does with questions that are not answered in time
	}

	// Started says that a launch's process runs.
	Started struct {
		Agent      string
		Launch     int
		PID        int
		StartTicks uint64
	}

	// TurnBegun says that the CLI has begun a turn, asked for or by itself.
	TurnBegun struct {
		Agent   string
		Launch  int
		Version string
	}

	// Heard is a signal of the agent.
	Heard struct {
		Agent  string
		Launch int
		Named
	}

	// Asked is a control request that waits for a person.
	Asked struct {
		Agent     string
		Launch    int
		Call      checkpoints.ToolCall
		Kind      checkpoints.QuestionKind
		Questions []signals.Question
		Naming
	}

	// Named is a signal with what its questions need.
	Named struct {
		Signal signals.Signal
		Naming
	}

	// Naming is what the questions of a signal or call are given from outside: ids, one each, of which the first
	// names the group; and the answers that were given in advance (one without a value is none).
	Naming struct {
		IDs     []string
		Presets []Preset
	}

	// AskCancelled withdraws such a request.
	AskCancelled struct {
		Agent   string
		Launch  int
		Request string
	}

	// GateAsked is the Stop hook: may the turn end?
	GateAsked struct {
		Agent      string
		Launch     int
		Request    string
		Transcript string
		Background []string
		WakeUps    []string
		Report     bool // the last message ends with a report without an id, which counts if the turn ends now
		Ask        bool // the same for a question, stop or delegation
	}

	// GateReplied says that the hook has its reply.
	GateReplied struct {
		Agent   string
		Launch  int
		Request string
	}

	// BackgroundChanged lists what lives outside turns.
	BackgroundChanged struct {
		Agent  string
		Launch int
		Tasks  []string
	}

	// TurnEnded is a result line.
	TurnEnded struct {
		Agent                     string
		Launch                    int
		Failure                   procs.Failure
		CostUSD                   float64 // of this turn
		InputTokens, OutputTokens int64   // of this turn
	}

	// Sent says that a delivery was written to the process.
	Sent struct {
		UUID   string
		Launch int
	}

	// Received is a receipt, or the tool result of an answered call.
	Received struct {
		UUID  string
		State checkpoints.DeliveryState // started or delivered
	}

	// Confirmed is what the transcript of an ended launch says of a delivery.
	Confirmed struct {
		UUID  string
		Found bool
	}

	// Ended says that a launch has no process any more, nor anything that carries its marker.
	Ended struct {
		Agent     string
		Launch    int
		Failure   procs.Failure
		Outcome   string // for people: "exit 143", "killed by SIGKILL"
		Survivors []string
	}

	// Surveyed says that the checkpoint of an ended launch is on disk, and what it tells.
	Surveyed struct {
		Agent      string
		Launch     int
		Checkpoint string
		Unheard    []Named // signals of its last turn, if that was lost; most of them are known
		Whole      bool    // that turn came to its end all the same
	}

	// Checked says which deliverables of the report are missing.
	Checked struct {
		Agent   string
		Missing []string
	}

	// Noticed says that the one notice of a question was given.
	Noticed struct{ Question string }

	// Noted is what other processes, and this one's terminal, have left in the inbox since it was last looked at:
	// answers, changed answers, stops. They are taken together, so that a changed answer is in time or is refused.
	Noted struct{ Notes []Note }

	// HoldEnded says that a process has waited long enough.
	HoldEnded struct {
		Agent  string
		Launch int
	}

	// RetryDue says that an agent has rested long enough after a failure.
	RetryDue struct{ Agent string }

	// InterruptAsked is the person's ctrl-C, or the machine going down: leave gently.
	InterruptAsked struct{ By string }

	// Left is the last event of a supervisor that goes on purpose.
	Left struct{}
)

func (Created) event()           {}
func (Opened) event()            {}
func (Started) event()           {}
func (TurnBegun) event()         {}
func (Heard) event()             {}
func (Asked) event()             {}
func (AskCancelled) event()      {}
func (GateAsked) event()         {}
func (GateReplied) event()       {}
func (BackgroundChanged) event() {}
func (TurnEnded) event()         {}
func (Sent) event()              {}
func (Received) event()          {}
func (Confirmed) event()         {}
func (Ended) event()             {}
func (Surveyed) event()          {}
func (Checked) event()           {}
func (Noticed) event()           {}
func (Noted) event()             {}
func (HoldEnded) event()         {}
func (RetryDue) event()          {}
func (InterruptAsked) event()    {}
func (Left) event()              {}

// bodies names every kind of event as history keeps it. A name, once released, stays.
var bodies = map[string]Body{
	"created": Created{}, "opened": Opened{}, "started": Started{}, "turn_begun": TurnBegun{}, "heard": Heard{},
	"asked": Asked{}, "ask_cancelled": AskCancelled{}, "gate_asked": GateAsked{}, "gate_replied": GateReplied{},
	"background": BackgroundChanged{}, "turn_ended": TurnEnded{}, "sent": Sent{}, "received": Received{},
	"confirmed": Confirmed{}, "ended": Ended{}, "surveyed": Surveyed{}, "checked": Checked{}, "noticed": Noticed{},
	"noted": Noted{}, "hold_ended": HoldEnded{},
	"retry_due": RetryDue{}, "interrupt_asked": InterruptAsked{}, "left": Left{},
}

var bodyNames = func() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(bodies))
	for name, b := range bodies {
		names[reflect.TypeOf(b)] = name
	}
	return names
}()

// record gives the event as history keeps it.
func (e Event) record(run string, seq int64) (checkpoints.Event, error) {
	doc, err := json.Marshal(e.Body)
	if err != nil {
		return checkpoints.Event{}, fmt.Errorf("event %T cannot be written: %w", e.Body, err)
	}
	return checkpoints.Event{Run: run, Seq: seq, At: e.At, Type: bodyNames[reflect.TypeOf(e.Body)], Doc: doc}, nil
}

// recorded reads an event of history back.
func recorded(r checkpoints.Event) (Event, error) {
	b, ok := bodies[r.Type]
	if !ok {
		return Event{}, fmt.Errorf("event %d of run %s is of an unknown kind %q", r.Seq, r.Run, r.Type)
	}
	p := reflect.New(reflect.TypeOf(b))
	if err := json.Unmarshal(r.Doc, p.Interface()); err != nil {
		return Event{}, fmt.Errorf("event %d of run %s cannot be read: %w", r.Seq, r.Run, err)
	}
	return Event{At: r.At, Body: p.Elem().Interface().(Body)}, nil
}
