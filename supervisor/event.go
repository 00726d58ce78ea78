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

// FileEvent is what the engine hears of its syncer: what it has seen of a file that is not ours, or what who watches the run
// should be told.
type FileEvent struct {
	ID     string
	Gone   bool   // taken away by the script that put it there
	Answer string // what was seen in its answer file
	Told   string
}

// An Event is one thing that happened. It carries all that Step needs to know: the time, new ids, what was read from
// the world. Folding a run's events from the first gives its records.
type Happened struct {
	At    time.Time
	Event Event
}

// A Body is what happened; its fields survive JSON unchanged.
type Event interface{ event() }

type (
	// Created is the first event of a run.
	Created struct {
		Run, Name, Cwd, Agent, Task   string
		SuccessCriteria, Deliverables []string `json:",omitempty"`
		Config                        Config
		Children                      []Child `json:",omitempty"` // that the task itself states
		Estimated                     string  `json:",omitempty"` // how long the root's task takes, as written
		Group                         bool    `json:",omitempty"` // the root has no conversation: it is its children
		From                          string  `json:",omitempty"` // the session with whose conversation the root's begins
	}

	// Opened says that a supervisor has taken the run over: at its start, or to resume it.
	Opened struct {
		PID    int
		Bell   string
		Notes  []InboxEntry // what lay in the inbox: who asks again must know what is answered
		Named  NotesNamed   `json:",omitempty"`
		Revive bool         // go on with agents that failed or were stopped
		Failed bool         `json:",omitempty"` // try again what failed, or reported so
		Claude string       // another claude than before; "": the same
		Exec   []string     // the same of a command that is run in claude's place
		Policy OnQuestion   // what this supervisor does with questions that are not answered in time
		Given  Given        `json:",omitzero"` // what the person grants with resume, and bounds the run by
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
		Refused   string `json:",omitempty"` // why nobody is asked, as the agent reads it
		Rule      string `json:",omitempty"` // the rule that permits exactly this in the whole run; "": none can
		Naming
	}

	// Called is a call of a tool of ours.
	Called struct {
		Agent  string
		Launch int
		Call   checkpoints.ToolCall
		Named
	}

	// Replied says that a call has got its reply.
	Replied struct {
		Agent   string
		Launch  int
		Request string
	}

	// BusyElsewhere says whether something else of an agent is at work while a question of it waits in a call.
	BusyElsewhere struct {
		Agent  string
		Launch int
		AtWork bool
	}

	// Named is a signal with what its questions need.
	Named struct {
		Signal signals.Signal
		Kept   *checkpoints.Kept `json:",omitempty"` // the checkpoint that it names, as it is now
		Naming
	}

	// Naming is what the questions of a signal or call are given from outside: ids, one each, of which the first
	// names the group; and the answers that were given in advance (one without a value is none).
	Naming struct {
		IDs     []string
		Presets []Preset
		Child   string `json:",omitempty"` // of a delegation: the id that the child gets if it is approved
	}

	// AskCancelled withdraws a request or call.
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
		Background []checkpoints.Task
		WakeUps    []string
		Untold     bool // background work has ended since the turn's last request: it is told in a turn of its own
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
		Tasks  []checkpoints.Task
	}

	// TurnEnded is a result line.
	TurnEnded struct {
		Agent                     string
		Launch                    int
		Failure                   procs.Failure
		CostUSD                   float64 // of this turn
		InputTokens, OutputTokens int64   // of this turn
		ToolUses                  int     `json:",omitempty"` // of this turn
		Turns                     int     `json:",omitempty"` // requests that its own conversation has made in it

		Resets *time.Time `json:",omitempty"` // of a Failure that is a usage limit: when that ends, if it can be told
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

		// What was used since the last result, as far as it is known.
		CostUSD                   float64 `json:",omitempty"`
		InputTokens, OutputTokens int64   `json:",omitempty"`
	}

	// Surveyed says that the checkpoint of an ended launch is on disk, and what it tells.
	Surveyed struct {
		Agent      string
		Launch     int
		Checkpoint string
		Unheard    []Named // signals of its last turn, if that was lost; most of them are known
		Whole      bool    // that turn came to its end all the same

		// Subagents are those that have asked in a call, by the id of the first question of it.
		Subagents map[string]checkpoints.Subagent `json:",omitempty"`
	}

	// Checked says which deliverables of the report are missing.
	Checked struct {
		Agent   string
		Missing []string
	}

	// Prepared says that what an answer needs before it is said is done: it is stored beside the agent's state, what the
	// snapshot names was looked for, and where a command is to run first, the question whether it may is named.
	Prepared struct {
		Question string   // the first of the group
		Gone     []string // of what the snapshot names
		Hand     string   // where the agent finds its state
		Problem  string   // why the answer could not be stored; it is said all the same
		Naming
	}

	// RanCommand says what came of a command that a person let run.
	RanCommand struct {
		Question string
		Ran      checkpoints.Ran
	}

	// FileFound says that an agent's script asks by a question file, and waits for its answer file.
	FileFound struct {
		Agent  string
		Launch int
		Named
	}

	// FileGone says that a script has taken its answer, or has taken its question back.
	FileGone struct {
		ID     string
		Answer string // what was seen of the answer, "" if nothing
	}

	// Dropped says that an answer lies in its answer file, or why it could not be put there.
	Dropped struct{ Question, Problem string }

	// Reclaimed says whether an answer file that no script looks for any more still lay there.
	Reclaimed struct {
		Question string
		There    bool
	}

	// NotificationSent says that the one notice of a question was given, or why the person's own command could not be told.
	NotificationSent struct{ Question, Problem string }

	// InboxRead is what other processes, and this one's terminal, have left in the inbox since it was last looked at:
	// answers, changed answers, stops. They are taken together, so that a changed answer is in time or is refused.
	InboxRead struct {
		Notes []InboxEntry
		Named NotesNamed `json:",omitempty"`
	}

	// NotesNamed is what the questions of runs inside agents are given from outside, by the Seq of their notes.
	NotesNamed map[int64]Naming

	// HoldEnded says that a process has waited long enough.
	HoldEnded struct {
		Agent  string
		Launch int
	}

	// Stalled says that a process at work has printed nothing and used no processor for as long as the person
	// lets it.
	Stalled struct {
		Agent  string
		Launch int
		Since  time.Time
		Doing  string
	}

	// Recovered says that a silent process has printed something.
	Recovered struct {
		Agent  string
		Launch int
	}

	// Announced says that the person's own command was told how the run is left, or why it could not be.
	Announced struct{ Leaving, Problem string }

	// RetryDue says that an agent has rested long enough after a failure.
	RetryDue struct {
		Agent string
		Until time.Time `json:",omitzero"` // what it has rested until
	}

	// InterruptAsked is the person's ctrl-C, or the machine going down: leave gently.
	InterruptAsked struct{ By string }

	// Left is the last event of a supervisor that goes on purpose.
	Left struct {
		Undone []string `json:",omitempty"` // keys of effects that did not come to their end: the next supervisor does them
	}
)

func (Created) event() {}

func (Opened) event() {}

func (Started) event() {}

func (TurnBegun) event() {}

func (Heard) event() {}

func (Asked) event() {}

func (Called) event() {}

func (Replied) event() {}

func (BusyElsewhere) event() {}

func (AskCancelled) event() {}

func (GateAsked) event() {}

func (GateReplied) event() {}

func (BackgroundChanged) event() {}

func (TurnEnded) event() {}

func (Sent) event() {}

func (Received) event() {}

func (Confirmed) event() {}

func (Ended) event() {}

func (Surveyed) event() {}

func (Checked) event() {}

func (Prepared) event() {}

func (RanCommand) event() {}

func (FileFound) event() {}

func (FileGone) event() {}

func (Dropped) event() {}

func (Reclaimed) event() {}

func (NotificationSent) event() {}

func (InboxRead) event() {}

func (HoldEnded) event() {}

func (Stalled) event() {}

func (Recovered) event() {}

func (Announced) event() {}

func (RetryDue) event() {}

func (InterruptAsked) event() {}

func (Left) event() {}

// bodies names every kind of event as history keeps it. A name, once released, stays.
var bodies = map[string]Event{
	"created": Created{}, "opened": Opened{}, "started": Started{}, "turn_begun": TurnBegun{}, "heard": Heard{},
	"asked": Asked{}, "called": Called{}, "replied": Replied{}, "besides": BusyElsewhere{},
	"ask_cancelled": AskCancelled{}, "gate_asked": GateAsked{}, "gate_replied": GateReplied{},
	"background": BackgroundChanged{}, "turn_ended": TurnEnded{}, "sent": Sent{}, "received": Received{},
	"confirmed": Confirmed{}, "ended": Ended{}, "surveyed": Surveyed{}, "checked": Checked{}, "prepared": Prepared{}, "ran": RanCommand{},
	"file_found": FileFound{}, "file_gone": FileGone{}, "dropped": Dropped{}, "reclaimed": Reclaimed{},
	"noticed": NotificationSent{},
	"noted":   InboxRead{}, "hold_ended": HoldEnded{}, "fell_silent": Stalled{}, "spoke": Recovered{},
	"announced": Announced{},
	"retry_due": RetryDue{}, "interrupt_asked": InterruptAsked{}, "left": Left{},
	"spent": Spent{}, "worked": Worked{}, "budget_asked": BudgetAsked{}, "overdue": Overdue{}, "pressed": Throttled{},
	"eased":  Unthrottled{},
	"packed": Packed{}, "unpacked": Unpacked{}, "placed": Placed{}, "tidied": Tidied{}, "merged": Merged{},
}

var bodyNames = func() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(bodies))
	for name, b := range bodies {
		names[reflect.TypeOf(b)] = name
	}
	return names
}()

// Name is the kind of the event, as history keeps it.
func (e Happened) Name() string { return bodyNames[reflect.TypeOf(e.Event)] }

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
	b, ok := bodies[r.Type]
	if !ok {
		return Happened{}, fmt.Errorf("event %d of run %s is of an unknown kind %q", r.Seq, r.Run, r.Type)
	}
	p := reflect.New(reflect.TypeOf(b))
	if err := json.Unmarshal(r.Doc, p.Interface()); err != nil {
		return Happened{}, fmt.Errorf("event %d of run %s cannot be read: %w", r.Seq, r.Run, err)
	}
	return Happened{At: r.At, Event: p.Elem().Interface().(Event)}, nil
}

// MustCheckInbox reports whether an event closes the file drop on what may lie in the inbox unseen: answers begin their way to an
// agent, a script has taken one by itself, an agent or the run ends (a stop or a message that was accepted before is heard), or the
// supervisor leaves.
func MustCheckInbox(before, after State, event Happened) bool {
	switch event.Event.(type) {
	case Left, FileGone:
		return true
	}
	if before.Run != nil && before.Run.EndedAt == nil && after.Run.EndedAt != nil {
		return true
	}
	for id, a := range after.Agents {
		old := before.Agents[id]
		if old == nil || old == a {
			continue
		}
		ends := old.EndedAt == nil && a.EndedAt != nil
		tells := a.Delegated != nil && a.Delegated.Nested != nil && a.Delegated.Told && !old.Delegated.Told // a client may have told it
		if ends || tells {
			return true
		}
	}
	for id, q := range after.Questions {
		if old := before.Questions[id]; q.Delivering && (old == nil || !old.Delivering) {
			return true
		}
	}
	return false
}
