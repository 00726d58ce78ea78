package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A story drives Step and Plan as an engine would, with the test in the place of the world. Every event passes through
// its written form, and at the end the history is folded and must give the records.
type story struct {
	t      *testing.T
	state  State
	at     time.Time
	events []Event
}

const (
	root  = "a-rootrootroot"
	runID = "r-storyrun"
)

// begin tells a story up to the first turn under way.
func begin(t *testing.T, change func(*Config)) *story {
	s := &story{t: t, at: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg := Config{Hold: DefaultHold, MaxHeld: -1, Relaunch: Resume, Retries: 2}
	policy := Ask
	if change != nil {
		change(&cfg)
		if cfg.OnQuestion != "" {
			policy = cfg.OnQuestion
		}
	}
	s.do(Created{Run: runID, Cwd: "/work", Agent: root, Task: "Choose a database", Config: cfg})
	s.do(Opened{PID: 1, Bell: "/tmp/bell", Policy: policy})
	s.launches(1)
	t.Cleanup(s.folds)
	return s
}

// launches plays the start of launch n until the agent reads its prompt.
func (s *story) launches(n int) {
	s.t.Helper()
	s.plans("launch a-rootrootroot " + string(rune('0'+n)))
	s.do(Started{Agent: root, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
	s.delivers(n)
	s.do(TurnBegun{Agent: root, Launch: n})
}

// delivers plays the delivery of the one prompt that is planned, up to its start, and gives it.
func (s *story) delivers(n int) *Delivery {
	s.t.Helper()
	for _, e := range Plan(s.state) {
		if e.Do == DoDeliver {
			d := s.state.Deliveries[e.Delivery]
			s.do(Sent{UUID: d.UUID, Launch: n})
			if d.Tool == nil {
				s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
			}
			return d
		}
	}
	s.t.Fatalf("nothing to deliver in %v", s.keys())
	return nil
}

func (s *story) do(b Body) {
	s.t.Helper()
	if !s.try(b) {
		s.t.Fatalf("%T was unwelcome", b)
	}
}

// try tells whether the event was welcome.
func (s *story) try(b Body) bool {
	s.t.Helper()
	s.at = s.at.Add(time.Second)
	record, err := Event{At: s.at, Body: b}.record(runID, int64(len(s.events)+1))
	if err != nil {
		s.t.Fatal(err)
	}
	e, err := recorded(record)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(b, e.Body, cmp.Comparer(bytes.Equal)); diff != "" {
		s.t.Fatalf("%T changes when it is written and read: %s", b, diff)
	}
	next, err := Step(s.state, e)
	if errors.Is(err, ErrUnwelcome) {
		return false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.state, s.events = next, append(s.events, e)
	return true
}

// folds checks that the records are what the history makes.
func (s *story) folds() {
	var again State
	for _, e := range s.events {
		var err error
		if again, err = Step(again, e); err != nil {
			s.t.Errorf("folding the history: %v", err)
			return
		}
	}
	if diff := cmp.Diff(s.state, again, cmpopts.IgnoreUnexported(State{}), cmp.Comparer(bytes.Equal)); diff != "" {
		s.t.Errorf("the history does not give the records (-records +history):\n%s", diff)
	}
}

func (s *story) keys() []string {
	var keys []string
	for _, e := range Plan(s.state) {
		keys = append(keys, e.Key)
	}
	return keys
}

func (s *story) plans(key string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
		s.t.Fatalf("the plan is %q, without %q", s.keys(), key)
	}
}

func (s *story) plansNot(key string) {
	s.t.Helper()
	if slices.ContainsFunc(s.keys(), func(k string) bool { return strings.HasPrefix(k, key) }) {
		s.t.Fatalf("the plan is %q, with %q", s.keys(), key)
	}
}

func (s *story) is(status Status) {
	s.t.Helper()
	if got := s.state.Agents[root]; got.Status != status {
		s.t.Fatalf("the agent is %s (%s), want %s", got.Status, got.Reason, status)
	}
}

func (s *story) exits(code int) {
	s.t.Helper()
	if got := ExitCode(s.state.Agents[root]); got != code {
		s.t.Fatalf("exit code %d, want %d (%s)", got, code, s.state.Agents[root].Reason)
	}
}

// asks lets the agent ask, by text, and the turn end.
func (s *story) asks(id, text string) {
	s.t.Helper()
	s.do(s.clarification(id, text))
	s.turnEnds()
}

func (s *story) clarification(id, text string) Heard {
	return Heard{
		Agent: root, Launch: s.state.launch(root).N, Named: Named{
			Naming: Naming{IDs: []string{id}, Presets: []Preset{{}}},
			Signal: signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Block, AgentID: root,
				Fields:    []signals.Field{{Name: "blocked_at", Value: "the schema"}},
				Questions: []signals.Question{{ID: "Q1", Text: text, Options: []signals.Option{{Label: "PostgreSQL"}, {Label: "SQLite"}}}},
			},
		},
	}
}

func (s *story) turnEnds() {
	s.t.Helper()
	s.do(TurnEnded{Agent: root, Launch: s.state.launch(root).N, CostUSD: 0.01, InputTokens: 10, OutputTokens: 5})
	for _, d := range s.state.deliveries(root, waitsForReceipt) {
		s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
}

func (s *story) reports(status, deliverables string) {
	s.t.Helper()
	s.do(Heard{Agent: root, Launch: s.state.launch(root).N, Named: Named{Signal: signals.Signal{
		Kind: signals.Completion, AgentID: root, Fields: []signals.Field{
			{Name: "status", Value: status}, {Name: "summary", Value: "Chose it."}, {Name: "deliverables", Value: deliverables},
		},
	}}})
}

func (s *story) answers(id, value string) {
	s.t.Helper()
	s.notes(Note{Kind: noteAnswer, Question: id, Value: value})
}

// notes leaves notes in the inbox.
func (s *story) notes(notes ...Note) {
	s.t.Helper()
	for i := range notes {
		notes[i].By, notes[i].At, notes[i].Seq = "a test", s.at, s.state.Taken+int64(i)+1
	}
	s.do(Noted{Notes: notes})
}

// ends lets the process end as it was told to.
func (s *story) ends() {
	s.t.Helper()
	l := s.state.launch(root)
	s.plans("end " + root)
	s.do(Ended{Agent: root, Launch: l.N, Outcome: "exit 0"})
}

// dies lets the process end by itself.
func (s *story) dies(f procs.Failure) {
	s.t.Helper()
	s.do(Ended{Agent: root, Launch: s.state.launch(root).N, Outcome: "ended by SIGKILL", Failure: f})
}

// rests plays what follows the end of a launch before anything is said again.
func (s *story) rests(found bool) {
	s.t.Helper()
	for _, e := range Plan(s.state) {
		switch e.Do {
		case DoConfirm:
			s.do(Confirmed{UUID: e.Delivery, Found: found})
		case DoSurvey:
			s.do(Surveyed{Agent: root, Launch: e.Launch, Checkpoint: "Files you wrote: schema.sql"})
		}
	}
}

func crash() procs.Failure {
	return procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "it was ended by SIGKILL"}
}

// prompts gives the texts that were delivered to the agent, without the dropped ones.
func (s *story) prompts() []string {
	var texts []string
	for _, d := range s.state.deliveries(root, func(d *Delivery) bool { return d.State == checkpoints.DeliveryDelivered && d.Tool == nil }) {
		texts = append(texts, d.Text)
	}
	return texts
}

func raw(v any) json.RawMessage { return encode(v) }

func parseAny(t *testing.T, doc json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
