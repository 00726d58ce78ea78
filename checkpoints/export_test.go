package checkpoints

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parkedRun leaves a run with a history and an inbox: a note that is taken, and an answer that is not.
func parkedRun(t *testing.T, s *Store) {
	t.Helper()
	commit(t, s, firstChange())
	stop, err := s.Leave(t.Context(),
		InboxEntry{Run: testRun, Kind: "stop", Agent: testAgent, By: "stop (pid 5)", At: noon})
	noError(t, err)
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 2, At: noon, Type: "stopped", Doc: []byte(`{}`)}, Taken: stop.Seq})
	if _, err := s.Answer(t.Context(),
		InboxEntry{Question: testQuestion, Value: "sqlite", By: "terminal pts/3", At: noon}); err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, s *Store) Exported {
	t.Helper()
	e, err := s.Export(t.Context(), testRun)
	noError(t, err)
	return e
}

// pack marks the run as packed, with the event that says so.
func pack(t *testing.T, s *Store, after Exported) {
	t.Helper()
	run := after.Run
	run.Packed = "/tmp/r-k3v9x2ab.tar.gz"
	commit(t, s, Change{Run: &run,
		Event: Event{Run: testRun, Seq: int64(len(after.Events)) + 1, At: noon, Type: "packed", Doc: []byte(`{}`)}})
}

func TestAnExportedRunIsTheSameInAnotherDatabase(t *testing.T) {
	from, to := openAt(t, dirsAt(t)), openAt(t, dirsAt(t))
	parkedRun(t, from)
	exported := export(t, from)
	text, err := json.Marshal(exported)
	noError(t, err)
	var read Exported
	noError(t, json.Unmarshal(text, &read))
	if diff := cmp.Diff(exported, read); diff != "" {
		t.Errorf("its JSON form: %s", diff)
	}

	for i := range 3 { // the Seqs of the inbox there are others
		run := Run{ID: fmt.Sprintf("r-%08d", i)}
		commit(t, to, Change{Run: &run})
		if _, err := to.Leave(t.Context(), InboxEntry{Run: run.ID, Kind: "stop"}); err != nil {
			t.Fatal(err)
		}
	}
	noError(t, to.Import(t.Context(), read))
	want := exported
	want.Run.PID, want.Run.Waker = 0, "" // of the other machine
	want.Notes = []InboxEntry{exported.Notes[0], exported.Notes[1]}
	want.Notes[0].Seq, want.Notes[1].Seq, want.Taken = 4, 5, 4
	if diff := cmp.Diff(want, export(t, to)); diff != "" {
		t.Error(diff)
	}
	untaken, err := to.Inbox(t.Context(), testRun, 0)
	if diff := cmp.Diff(want.Notes[1:], untaken); diff != "" || err != nil {
		t.Errorf("in the inbox: %v %s", err, diff)
	}
	_, err = to.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "postgres", By: "me", At: noon})
	if taken, ok := errors.AsType[*TakenError](err); !ok || taken.Answer != "sqlite" {
		t.Errorf("a second answer: %v", err)
	}
	commit(t, to, Change{Event: Event{Run: testRun, Seq: 3}})
}

func TestARunThatNobodyKnowsIsNotExported(t *testing.T) {
	empty, err := OpenReadOnly(dirsAt(t))
	noError(t, err)
	for name, s := range map[string]*Store{"no database": empty, "no such run": openAt(t, dirsAt(t))} {
		if _, err := s.Export(t.Context(), testRun); !errors.As(err, new(*UnknownError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run travels to another machine, goes on there, and comes back.
func TestAPackedRunComesBack(t *testing.T) {
	here, there := openAt(t, dirsAt(t)), openAt(t, dirsAt(t))
	parkedRun(t, here)
	pack(t, here, export(t, here))
	packed := export(t, here)
	// What the file holds was exported before the run was marked.
	packed.Run.Packed, packed.Events = "", packed.Events[:2]

	noError(t, there.Import(t.Context(), packed))
	agent := *packed.Agents[0]
	agent.Launches = 2
	commit(t, there, Change{
		Agents: []*Agent{&agent}, Launches: []*Launch{{Agent: testAgent, N: 2, Phase: LaunchEnded}}, Taken: 2,
		Event: Event{Run: testRun, Seq: 3, At: noon, Type: "went on", Doc: []byte(`{}`)},
	})
	// In this order: what it has become has the longer history, after which
	// what was packed is refused.
	for _, comes := range []struct {
		name string
		Exported
	}{{"as it was packed", packed}, {"as it has become", export(t, there)}} {
		if err := here.Import(t.Context(), comes.Exported); err != nil {
			t.Fatalf("%s: %v", comes.name, err)
		}
		got := export(t, here)
		if len(got.Events) != len(comes.Events) || len(got.Launches) != len(comes.Launches) || got.Run.Packed != "" {
			t.Errorf("%s: %d events, %d launches, packed into %q", comes.name, len(got.Events), len(got.Launches),
				got.Run.Packed)
		}
		pack(t, here, got)
	}
}

func TestNothingIsLeftForARunThatWasPacked(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	pack(t, s, export(t, s))
	_, answered := s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "sqlite", By: "me", At: noon})
	_, changed := s.ChangeAnswer(t.Context(), InboxEntry{Question: testQuestion, Value: "sqlite", By: "me", At: noon})
	_, left := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: "stop"})
	for doing, err := range map[string]error{"answer": answered, "change": changed, "leave": left} {
		packed, ok := errors.AsType[*PackedError](err)
		if !ok || packed.Run != testRun || !strings.Contains(err.Error(), "claude-supervise unpack "+packed.File) {
			t.Errorf("%s: %v", doing, err)
		}
	}
	if notes, err := s.Inbox(t.Context(), testRun, 0); len(notes) > 0 || err != nil {
		t.Errorf("in the inbox: %v (%v)", notes, err)
	}
}

func TestARunThatIsKnownHereIsNotReplaced(t *testing.T) {
	source := openAt(t, dirsAt(t))
	parkedRun(t, source)
	exported := export(t, source)
	for name, here := range map[string]func(s *Store){
		"it was not packed": func(s *Store) { parkedRun(t, s) },
		"its history is longer": func(s *Store) {
			parkedRun(t, s)
			commit(t, s, Change{Event: Event{Run: testRun, Seq: 3}})
			pack(t, s, export(t, s))
		},
		"its inbox holds more": func(s *Store) {
			parkedRun(t, s)
			if _, err := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: "stop"}); err != nil {
				t.Fatal(err)
			}
			pack(t, s, export(t, s))
		},
		"another run has its agent": func(s *Store) {
			commit(t, s, Change{Run: &Run{ID: "r-other000"}, Agents: []*Agent{{ID: testAgent, Run: "r-other000"}}})
		},
		"another run has its question": func(s *Store) {
			commit(t, s, Change{Run: &Run{ID: "r-other000"}, Questions: []*Question{{ID: testQuestion, Run: "r-other000"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, dirsAt(t))
			here(s)
			before := everything(t, s)
			if err := s.Import(t.Context(), exported); !errors.Is(err, ErrDuplicateID) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, everything(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnExportThatNoDatabaseCanHaveHeldIsRefusedWhole(t *testing.T) {
	source := openAt(t, dirsAt(t))
	parkedRun(t, source)
	text, err := json.Marshal(export(t, source))
	noError(t, err)
	for name, spoil := range map[string]func(*Exported){
		"no schema":                       func(e *Exported) { e.Schema = 0 },
		"no run":                          func(e *Exported) { e.Run = Run{} },
		"a run whose id climbs":           func(e *Exported) { e.Run.ID = "r-/../../etc" },
		"a run with an agent's id":        func(e *Exported) { e.Run.ID = testAgent },
		"a run without its first agent":   func(e *Exported) { e.Run.Root = "a-other0000000" },
		"a document that is not JSON":     func(e *Exported) { e.Run.Config = json.RawMessage(`{`) },
		"no agent where one should be":    func(e *Exported) { e.Agents = append(e.Agents, nil) },
		"an agent twice":                  func(e *Exported) { e.Agents = append(e.Agents, e.Agents[0]) },
		"another run's agent":             func(e *Exported) { e.Agents[0].Run = "r-other000" },
		"an agent whose id climbs":        func(e *Exported) { e.Agents[0].ID = "a-/../../etc" },
		"an agent with a question's id":   func(e *Exported) { e.Agents[0].ID = testQuestion },
		"an agent that is its own parent": func(e *Exported) { e.Agents[0].Parent = testAgent },
		"an agent of a parent elsewhere": func(e *Exported) {
			e.Agents[0].Parent, e.Agents[0].Depth = "a-other0000000", 1
		},
		"no question where one should be":  func(e *Exported) { e.Questions[0] = nil },
		"a question twice":                 func(e *Exported) { e.Questions = append(e.Questions, e.Questions[0]) },
		"another run's question":           func(e *Exported) { e.Questions[0].Run = "r-other000" },
		"a question with an id of nothing": func(e *Exported) { e.Questions[0].ID = "q-" },
		"a question of another's agent":    func(e *Exported) { e.Questions[0].Agent = "a-other0000000" },
		"a question in no known state":     func(e *Exported) { e.Questions[0].State = "asked" },
		"no launch where one should be":    func(e *Exported) { e.Launches[0] = nil },
		"a launch twice":                   func(e *Exported) { e.Launches = append(e.Launches, e.Launches[0]) },
		"a launch of another's agent":      func(e *Exported) { e.Launches[0].Agent = "a-other0000000" },
		"a launch 0":                       func(e *Exported) { e.Launches[0].N = 0 },
		"no delivery where one should be":  func(e *Exported) { e.Deliveries[0] = nil },
		"a delivery twice":                 func(e *Exported) { e.Deliveries = append(e.Deliveries, e.Deliveries[0]) },
		"a delivery without a uuid":        func(e *Exported) { e.Deliveries[0].UUID = "" },
		"a delivery to another's agent":    func(e *Exported) { e.Deliveries[0].Agent = "a-other0000000" },
		"a delivery in no known state":     func(e *Exported) { e.Deliveries[0].State = "lost" },
		"another run's event":              func(e *Exported) { e.Events[0].Run = "r-other000" },
		"a gap in the history":             func(e *Exported) { e.Events[1].Seq = 3 },
		"an event twice":                   func(e *Exported) { e.Events[1].Seq = 1 },
		"another run's note":               func(e *Exported) { e.Notes[0].Run = "r-other000" },
		"a note of no kind":                func(e *Exported) { e.Notes[0].Kind = "" },
		"notes out of order":               func(e *Exported) { e.Notes[0].Seq = e.Notes[1].Seq },
		"two answers to a question": func(e *Exported) {
			e.Notes[0].Kind, e.Notes[0].Question = EntryAnswer, testQuestion
		},
		"an answer to another's question":   func(e *Exported) { e.Notes[1].Question = "q-222222" },
		"an answer to nothing":              func(e *Exported) { e.Notes[1].Question = "" },
		"a note about another's question":   func(e *Exported) { e.Notes[0].Question = "q-222222" },
		"a change of an answer to nothing":  func(e *Exported) { e.Notes[1].Kind, e.Notes[1].Question = EntryChange, "" },
		"an agent's id that ends in a line": func(e *Exported) { e.Agents[0].ID += "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			var e Exported
			noError(t, json.Unmarshal(text, &e))
			spoil(&e)
			s := openAt(t, dirsAt(t))
			if err := s.Import(t.Context(), e); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v", err)
			}
			if left := everything(t, s); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAnExportOfANewerReleaseIsRefused(t *testing.T) {
	s := openAt(t, dirsAt(t))
	err := s.Import(t.Context(), Exported{Schema: schemaVersion + 1, Run: Run{ID: testRun}})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("got %v", err)
	}
}

// What Import takes, Export gives again: the hostile ones are those that it must not take.
func FuzzImport(f *testing.F) {
	seed := firstChange()
	text, err := json.Marshal(Exported{
		Schema: 1, Run: *seed.Run, Agents: seed.Agents, Launches: seed.Launches, Questions: seed.Questions,
		Deliveries: seed.Deliveries, Events: []Event{seed.Event}, Taken: 3,
		Notes: []InboxEntry{{Seq: 3, Run: testRun, Kind: "stop"},
			{Seq: 9, Run: testRun, Kind: EntryAnswer, Question: testQuestion}},
	})
	noError(f, err)
	f.Add(text)
	f.Add([]byte(`{"schema":1,"agents":[null]}`))
	s := openAt(f, dirsAt(f))
	noError(f, s.exec(f.Context(), `PRAGMA synchronous = OFF`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e Exported
		if json.Unmarshal(text, &e) != nil {
			return
		}
		if err := s.Import(t.Context(), e); err != nil {
			return
		}
		got, err := s.Export(t.Context(), e.Run.ID)
		if err != nil || len(got.Agents) != len(e.Agents) || len(got.Launches) != len(e.Launches) ||
			len(got.Questions) != len(e.Questions) ||
			len(got.Deliveries) != len(e.Deliveries) || len(got.Events) != len(e.Events) || len(got.Notes) != len(e.Notes) {
			t.Errorf("%v\nput in  %+v\ngot out %+v", err, e, got)
		}
		if err := s.forget(t.Context(), e.Run.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestARemovedRunLeavesNothingBehindAndTheOthersAlone(t *testing.T) {
	s := openAt(t, dirsAt(t))
	fill(t, s, 3, 0)
	before := everything(t, s)
	parkedRun(t, s)
	if err := s.Remove(t.Context(), testRun); !errors.Is(err, ErrNotEnded) {
		t.Errorf("removed a run that continues: %v", err)
	}
	end := noon.Add(time.Hour)
	run := *firstChange().Run
	run.EndedAt = &end
	commit(t, s, Change{Run: &run})
	noError(t, s.Remove(t.Context(), testRun))
	if diff := cmp.Diff(before, everything(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := s.Remove(t.Context(), testRun); !errors.As(err, new(*UnknownError)) {
		t.Errorf("removed twice: %v", err)
	}
	commit(t, s, firstChange()) // its ids are free again
}

func TestEndedRunsAreThoseThatEndedBeforeATime(t *testing.T) {
	s := openAt(t, dirsAt(t))
	for _, r := range []struct {
		id              string
		started, lasted time.Duration // 0: it goes on
	}{{"r-long0000", 0, 5 * time.Hour}, {"r-short000", time.Hour, time.Hour}, {"r-open0000", 0, 0},
		{"r-late0000", 9 * time.Hour, time.Hour}} {
		run := &Run{ID: r.id, StartedAt: noon.Add(r.started)}
		if end := run.StartedAt.Add(r.lasted); r.lasted > 0 {
			run.EndedAt = &end
		}
		commit(t, s, Change{Run: run})
	}
	for hours, want := range map[int]string{1: "", 2: "", 3: "r-short000", 6: "r-short000 r-long0000",
		11: "r-short000 r-long0000 r-late0000"} {
		runs, err := s.EndedRuns(t.Context(), noon.Add(time.Duration(hours)*time.Hour))
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want || err != nil {
			t.Errorf("before hour %d: %q (%v), want %q", hours, got, err, want)
		}
	}
}

// everything reads all rows of all tables, each as one line of JSON.
func everything(t *testing.T, s *Store) []string {
	t.Helper()
	var all []string
	for table, columns := range map[string]string{
		"runs": "id, started, ended, taken, doc", "agents": "run, id, doc", "launches": "run, agent, n, live, doc",
		"questions": "run, id, state, doc", "deliveries": "run, uuid, doc", "events": "run, seq, doc",
		"inbox": "seq, run, kind, question, doc",
	} {
		lines, err := documents[[]any](t.Context(), s, "SELECT json_array('"+table+"', "+columns+") FROM "+table)
		noError(t, err)
		for _, line := range lines {
			all = append(all, fmt.Sprint(line...))
		}
	}
	slices.Sort(all)
	return all
}
