package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/text"
)

// A Story drives Step and Plan as an engine would, with the test in the place of the world. Every event passes through
// its written form, and at the end the history is folded and must give the records.
type Story struct {
	T      *testing.T
	State  State
	At     time.Time
	Events []Happened
}

const (
	Root  = "a-rootrootroot"
	RunID = "r-storyrun"
)

// Begin tells a story up to the first turn under way.
func Begin(t *testing.T, change func(*conf.Config)) *Story {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg := conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume, Retries: 2}
	policy := conf.Ask
	if change != nil {
		change(&cfg)
		if cfg.OnQuestion != "" {
			policy = cfg.OnQuestion
		}
	}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database", Config: cfg})
	s.Do(Opened{PID: 1, Waker: "/tmp/wake-up", Policy: policy})
	s.Launches(1)
	t.Cleanup(s.folds)
	return s
}

// Launches plays the start of launch n until the agent reads its prompt.
func (s *Story) Launches(n int) {
	s.T.Helper()
	s.plans("launch a-rootrootroot " + string(rune('0'+n)))
	s.Do(Started{Agent: Root, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
	s.Delivers(n)
	s.Do(TurnBegun{Agent: Root, Launch: n})
}

// Delivers plays the delivery of the one prompt that is planned, up to its start, and gives it.
func (s *Story) Delivers(n int) *Delivery {
	s.T.Helper()
	for _, e := range Plan(s.State) {
		if e.Do == effect.Deliver {
			d := s.State.Deliveries.Get(e.Delivery)
			s.Do(Sent{UUID: d.UUID, Launch: n})
			if d.Tool == nil {
				s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
			}
			return d
		}
	}
	s.T.Fatalf("nothing to deliver in %v", s.keys())
	return nil
}

func (s *Story) Do(b Event) {
	s.T.Helper()
	if !s.try(b) {
		s.T.Fatalf("%T was unwelcome", b)
	}
}

// try reports whether the event was welcome.
func (s *Story) try(b Event) bool {
	s.T.Helper()
	s.At = s.At.Add(time.Second)
	record, err := Happened{At: s.At, Event: b}.Record(RunID, int64(len(s.Events)+1))
	if err != nil {
		s.T.Fatal(err)
	}
	e, err := Recorded(record)
	if err != nil {
		s.T.Fatal(err)
	}
	if diff := cmp.Diff(b, e.Event, cmp.Comparer(bytes.Equal)); diff != "" {
		s.T.Fatalf("%T changes when it is written and read: %s", b, diff)
	}
	next, err := Step(s.State, e)
	if errors.Is(err, ErrUnwelcome) {
		return false
	}
	if err != nil {
		s.T.Fatal(err)
	}
	for _, q := range next.FindQuestions(func(q *Question) bool { return q.Closed() }) {
		if old := s.State.Questions.Get(q.ID); old != nil && !old.Closed() && !MustCheckInbox(s.State, next, e) {
			s.T.Errorf("%T closes question %s to a change of its answer that may have been acknowledged", b, q.ID)
		}
	}
	s.State, s.Events = next, append(s.Events, e)
	return true
}

// folds checks that the records are what the history makes.
func (s *Story) folds() {
	var again State
	for _, e := range s.Events {
		var err error
		if again, err = Step(again, e); err != nil {
			s.T.Errorf("folding the history: %v", err)
			return
		}
	}
	if diff := cmp.Diff(s.State, again, cmpopts.IgnoreUnexported(State{}, records.Records{}),
		cmp.Comparer(bytes.Equal),
		asMap[*Agent](), asMap[[]*Launch](), asMap[*Question](), asMap[*Delivery]()); diff != "" {
		s.T.Errorf("the history does not give the records (-records +history):\n%s", diff)
	}
}

func (s *Story) keys() []string {
	var keys []string
	for _, e := range Plan(s.State) {
		keys = append(keys, e.Key)
	}
	return keys
}

func (s *Story) plans(key string) {
	s.T.Helper()
	if !slices.ContainsFunc(s.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
		s.T.Fatalf("the plan is %q, without %q", s.keys(), key)
	}
}

func (s *Story) plansNot(key string) {
	s.T.Helper()
	if slices.ContainsFunc(s.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
		s.T.Fatalf("the plan is %q, with %q", s.keys(), key)
	}
}

func (s *Story) is(status Status) {
	s.T.Helper()
	if got := s.State.Agents.Get(Root); got.Status != status {
		s.T.Fatalf("the agent is %s (%s), want %s", got.Status, got.Reason, status)
	}
}

func (s *Story) exits(code int) {
	s.T.Helper()
	if got := exit.Code(s.State.Agents.Get(Root)); got != code {
		s.T.Fatalf("exit code %d, want %d (%s)", got, code, s.State.Agents.Get(Root).Reason)
	}
}

// Asks lets the agent ask, by text, and the turn end.
func (s *Story) Asks(id, text string) {
	s.T.Helper()
	s.Do(s.clarification(id, text))
	s.turnEnds()
}

func (s *Story) clarification(id, text string) SignalRead {
	return SignalRead{
		Agent: Root, Launch: s.State.Launch(Root).N, Named: Named{
			Naming: Naming{IDs: []string{id}, Presets: []conf.Preset{{}}},
			Signal: signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Block, AgentID: Root,
				Fields: []signals.Field{{Name: "blocked_at", Value: "the schema"}},
				Questions: []signals.Question{{ID: "Q1",
					Text: text, Options: []signals.Option{{Label: "PostgreSQL"}, {Label: "SQLite"}}}},
			},
		},
	}
}

func (s *Story) turnEnds() {
	s.T.Helper()
	s.Do(TurnEnded{Agent: Root, Launch: s.State.Launch(Root).N, CostUSD: 0.01, InputTokens: 10, OutputTokens: 5})
	for _, d := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
}

func (s *Story) reports(status, deliverables string) {
	s.T.Helper()
	s.Do(SignalRead{Agent: Root, Launch: s.State.Launch(Root).N, Named: Named{Signal: signals.Signal{
		Kind: signals.Completion, AgentID: Root, Fields: []signals.Field{
			{Name: "status", Value: status}, {Name: "summary", Value: "Chose it."}, {Name: "deliverables", Value: deliverables},
		},
	}}})
}

func (s *Story) Answers(id, value string) {
	s.T.Helper()
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: id, Value: value})
}

// Notes leaves notes in the inbox.
func (s *Story) Notes(notes ...InboxEntry) {
	s.T.Helper()
	for i := range notes {
		notes[i].By, notes[i].At, notes[i].Seq = "a test", s.At, s.State.Taken+int64(i)+1
	}
	s.Do(InboxRead{Notes: notes})
}

// Ends lets the process end as it was told to.
func (s *Story) Ends() {
	s.T.Helper()
	l := s.State.Launch(Root)
	s.plans("end " + Root)
	s.Do(Ended{Agent: Root, Launch: l.N, Outcome: "exit 0"})
}

// dies lets the process end by itself.
func (s *Story) dies(f procs.Failure) {
	s.T.Helper()
	s.Do(Ended{Agent: Root, Launch: s.State.Launch(Root).N, Outcome: "ended by SIGKILL", Failure: f})
}

// Rests plays what follows the end of a launch before anything is said again.
func (s *Story) Rests(found bool) {
	s.T.Helper()
	for _, e := range Plan(s.State) {
		switch e.Do {
		case effect.Confirm:
			s.Do(Confirmed{UUID: e.Delivery, Found: found})
		case effect.Survey:
			s.Do(Surveyed{Agent: Root, Launch: e.Launch, Checkpoint: "Files you wrote: schema.sql"})
		}
	}
}

func (s *Story) starts(n int) {
	s.T.Helper()
	s.plans("launch " + Root)
	s.Do(Started{Agent: Root, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
}

// isLost lets the supervisor die, and another end what is left of the launch.
func (s *Story) isLost() {
	s.T.Helper()
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: s.State.Launch(Root).N, Outcome: "lost with its supervisor"})
	s.Rests(true)
}

func crash() procs.Failure {
	return procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "it was ended by SIGKILL"}
}

// prompts returns the texts that were delivered to the agent, without the dropped ones.
func (s *Story) prompts() []string {
	var texts []string
	for _, d := range s.State.FindDeliveries(Root,
		func(d *Delivery) bool { return d.State == checkpoints.DeliveryDelivered && d.Tool == nil }) {
		texts = append(texts, d.Text)
	}
	return texts
}

// asMap compares tables by what they hold.
func asMap[V any]() cmp.Option {
	return cmp.Transformer("table", func(t table.Table[V]) map[string]V { return maps.Collect(t.All()) })
}

func raw(v any) json.RawMessage { return text.JSON(v) }

// withAgent returns a state with another record of an agent.
func withAgent(s State, id string, change func(*Agent)) State {
	a := *s.Agents.Get(id)
	change(&a)
	s.Agents.Put(id, &a)
	return s
}
