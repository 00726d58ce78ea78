package checkpoints

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/v1.db anew (only before a schema is released)")

// Databases of every released schema stay in testdata and must load with what was in them.
func TestADatabaseOfSchema1Loads(t *testing.T) {
	const fixture = "testdata/v1.db"
	change := firstChange()
	end := noon.Add(time.Hour)
	code := 0
	run := *change.Run
	run.ID, run.Root, run.Status, run.EndedAt, run.ExitCode, run.Left = "r-ended000", "a-ended0000000",
		Succeeded, &end, &code, "ended"
	ended := Change{Run: &run, Event: Event{Run: run.ID, Seq: 1, At: end, Type: "ended", Doc: []byte(`{}`)}}

	if *update {
		d := closed(t, func(s *Store) {
			commit(t, s, change)
			commit(t, s, ended)
			stop, err := s.Leave(t.Context(),
				InboxEntry{Run: testRun, Kind: "stop", Agent: testAgent, By: "stop (pid 5)", At: noon})
			noError(t, err)
			commit(t, s, Change{Event: Event{Run: testRun, Seq: 2, At: noon, Type: "stopped", Doc: []byte(`{}`)},
				Taken: stop.Seq})
			if _, err := s.Answer(t.Context(),
				InboxEntry{Question: testQuestion, Value: "sqlite", By: "terminal pts/3", At: noon}); err != nil {
				t.Fatal(err)
			}
		})
		copyFile(t, d.Database(), fixture)
	}

	d := dirsAt(t)
	noError(t, os.Mkdir(d.State, 0o700))
	copyFile(t, fixture, d.Database())
	s := openAt(t, d)
	got, err := s.Load(t.Context(), testRun)
	noError(t, err)
	want := Loaded{
		Run: *change.Run, Agents: map[string]*Agent{testAgent: change.Agents[0]}, Launches: change.Launches,
		Questions: change.Questions, Deliveries: change.Deliveries, LastEvent: 2, Taken: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	notes, err := s.Inbox(t.Context(), testRun, 0)
	answer := InboxEntry{Seq: 2, Run: testRun, Kind: EntryAnswer, Question: testQuestion, Agent: testAgent,
		Value: "sqlite", By: "terminal pts/3", At: noon}
	if diff := cmp.Diff([]InboxEntry{answer}, notes); diff != "" || err != nil {
		t.Error(err, diff)
	}
	runs, err := s.Runs(t.Context(), true)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs (%v)", len(runs), err)
	}
	if diff := cmp.Diff([]Run{run, *change.Run}, runs); diff != "" {
		t.Error(diff)
	}
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 3, At: noon, Type: "went on", Doc: []byte(`{}`)}})
}

// Every record that the program has written at two commits is read whole, and is written as it was: the same fields
// with the same values. e2e TestRunsOfAnEarlierRelease says how the databases were made.
func TestRecordsOfAnEarlierReleaseAreWrittenAsTheyWere(t *testing.T) {
	for _, database := range []string{"testdata/release.db.gz", "testdata/ae20620.db.gz"} {
		t.Run(database, func(t *testing.T) { recordsAreWrittenAsTheyWere(t, database) })
	}
}

func recordsAreWrittenAsTheyWere(t *testing.T, database string) {
	d := dirsAt(t)
	noError(t, os.Mkdir(d.State, 0o700))
	f, err := os.Open(database)
	noError(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	noError(t, err)
	content, err := io.ReadAll(z)
	noError(t, err)
	noError(t, os.WriteFile(d.Database(), content, 0o600))
	s := openAt(t, d)
	for table, record := range map[string]func() any{
		"runs": func() any { return new(Run) }, "agents": func() any { return new(Agent) },
		"launches": func() any { return new(Launch) }, "questions": func() any { return new(Question) },
		"deliveries": func() any { return new(Delivery) },
	} {
		docs, err := documents[json.RawMessage](t.Context(), s, "SELECT doc FROM "+table)
		if err != nil || len(docs) < 30 {
			t.Fatalf("%d %s (%v)", len(docs), table, err)
		}
		for _, doc := range docs {
			r := record()
			reader := json.NewDecoder(bytes.NewReader(doc))
			reader.DisallowUnknownFields()
			if err := reader.Decode(r); err != nil {
				t.Fatalf("%s: %v in %s", table, err, doc)
			}
			again, err := json.Marshal(r)
			noError(t, err)
			var was, is any
			noError(t, json.Unmarshal(doc, &was))
			noError(t, json.Unmarshal(again, &is))
			if diff := cmp.Diff(was, is); diff != "" {
				t.Errorf("%s: -was +is\n%s", table, diff)
			}
		}
	}
}
