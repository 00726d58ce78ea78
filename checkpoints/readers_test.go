package checkpoints

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRunsAreListedOldestFirstAndEndedOnesOnlyWhenAskedFor(t *testing.T) {
	s := openAt(t, dirsAt(t))
	for i, id := range []string{"r-cccccccc", "r-bbbbbbbb", "r-aaaaaaaa"} {
		start := noon.Add(time.Duration(i) * time.Minute)
		run := &Run{ID: id, Status: Running, StartedAt: start}
		if id == "r-bbbbbbbb" {
			run.Status, run.EndedAt = Succeeded, &start
		}
		commit(t, s, Change{Run: run})
	}
	for all, want := range map[bool]string{false: "r-cccccccc r-aaaaaaaa", true: "r-cccccccc r-bbbbbbbb r-aaaaaaaa"} {
		runs, err := s.Runs(t.Context(), all)
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want || err != nil {
			t.Errorf("all %v: %s (%v), want %s", all, got, err, want)
		}
	}
}

func TestARunIsListedAsEndedOnceItHasEndedAndNotWhenItGoesOn(t *testing.T) {
	s := openAt(t, dirsAt(t))
	c := firstChange()
	listed := func(want int) {
		t.Helper()
		c.Event.Seq++
		commit(t, s, Change{Run: c.Run})
		if runs, err := s.Runs(t.Context(), false); err != nil || len(runs) != want {
			t.Errorf("%d runs (%v), want %d", len(runs), err, want)
		}
	}
	listed(1)
	c.Run.EndedAt = &noon
	listed(0)
	c.Run.EndedAt = nil // resume --failed
	listed(1)
}

func TestOneRunIsReadByItsID(t *testing.T) {
	s := openAt(t, dirsAt(t))
	c := firstChange()
	commit(t, s, c)
	run, err := s.Run(t.Context(), testRun)
	if diff := cmp.Diff(*c.Run, run); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := s.Run(t.Context(), "r-nothere0"); !errors.As(err, new(*UnknownError)) {
		t.Errorf("got %v", err)
	}
}

func TestAgentsAndLiveLaunchesAreThoseOfTheRunsAskedFor(t *testing.T) {
	s := openAt(t, dirsAt(t))
	c := firstChange()
	c.Launches = append(c.Launches, &Launch{Agent: testAgent, N: 2, Phase: LaunchEnded})
	commit(t, s, c)
	commit(t, s, Change{
		Event:    Event{Run: "r-other000", Seq: 1},
		Agents:   []*Agent{{ID: "a-other0000000", Run: "r-other000"}},
		Launches: []*Launch{{Agent: "a-other0000000", N: 1, Phase: LaunchIntended}},
	})
	for _, q := range []struct {
		runs             []string
		agents, launches int
	}{{nil, 0, 0}, {[]string{testRun}, 1, 1}, {[]string{"r-nothere0", "r-other000", testRun}, 2, 2}} {
		agents, err := s.Agents(t.Context(), q.runs...)
		if err != nil || len(agents) != q.agents {
			t.Errorf("agents of %v: %v (%v)", q.runs, agents, err)
		}
		launches, err := s.LiveLaunches(t.Context(), q.runs...)
		if err != nil || len(launches) != q.launches {
			t.Errorf("launches of %v: %v (%v)", q.runs, launches, err)
		}
	}
}

func TestAnAnswerThatIsNotTakenYetIsShownAsAnswered(t *testing.T) {
	s := openAt(t, dirsAt(t))
	c := firstChange()
	commit(t, s, c)
	later := noon.Add(time.Hour)
	if _, err := s.Answer(t.Context(),
		InboxEntry{Question: testQuestion, Value: "sqlite", By: "terminal pts/3", At: noon}); err != nil {
		t.Fatal(err)
	}
	note, err := s.ChangeAnswer(t.Context(),
		InboxEntry{Question: testQuestion, Value: "no idea", Decline: true, By: "answer (pid 9)", At: later})
	noError(t, err)
	shown := func(f QuestionFilter, want ...Question) {
		t.Helper()
		got, err := s.Questions(t.Context(), f)
		if len(want) == 0 && len(got) == 0 && err == nil {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	seen := *c.Questions[0]
	seen.State, seen.Answer, seen.Declined, seen.AnsweredBy, seen.AnsweredAt = QuestionAnswered,
		"no idea", true, "answer (pid 9)", &later
	shown(QuestionFilter{Undelivered: true}, seen)
	if l, err := s.Load(t.Context(), testRun); err != nil || l.Questions[0].State != QuestionOpen {
		t.Errorf("the record itself is %v (%v)", l.Questions[0].State, err)
	}

	withdrawn := *c.Questions[0]
	withdrawn.State = QuestionWithdrawn
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 2}, Questions: []*Question{&withdrawn}})
	shown(QuestionFilter{}, withdrawn)
	shown(QuestionFilter{Undelivered: true})

	taken := *c.Questions[0]
	taken.State, taken.Answer = QuestionAnswered, "as the supervisor understood it"
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 3}, Questions: []*Question{&taken}, Taken: note.Seq})
	shown(QuestionFilter{Undelivered: true}, taken)
	taken.State = QuestionDelivered
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 4}, Questions: []*Question{&taken}})
	shown(QuestionFilter{Undelivered: true})
	shown(QuestionFilter{ID: testQuestion}, taken)
}

func TestQuestionsAreFilteredAndInTheOrderTheyWereAsked(t *testing.T) {
	s := openAt(t, dirsAt(t))
	question := func(id, agent, group string, index int, at time.Time) *Question {
		return &Question{ID: id, Run: testRun, Agent: agent, Group: group, Index: index, State: QuestionOpen, AskedAt: at}
	}
	agents := []*Agent{{ID: testAgent, Run: testRun}, {ID: "a-other0000000", Run: testRun}}
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 1}, Agents: agents, Questions: []*Question{
		question("q-222222", testAgent, "g2", 1, noon),
		question("q-333333", testAgent, "g2", 0, noon),
		question("q-444444", "a-other0000000", "g1", 0, noon),
		question("q-555555", testAgent, "g0", 0, noon.Add(time.Second)),
	}})
	for _, c := range []struct {
		filter QuestionFilter
		want   string
	}{
		{QuestionFilter{}, "q-444444 q-333333 q-222222 q-555555"},
		{QuestionFilter{Run: testRun, Undelivered: true}, "q-444444 q-333333 q-222222 q-555555"},
		{QuestionFilter{Agent: "a-other0000000"}, "q-444444"},
		{QuestionFilter{ID: "q-222222", Agent: testAgent}, "q-222222"},
		{QuestionFilter{Run: "r-other000"}, ""},
		{QuestionFilter{ID: "' OR true --"}, ""},
	} {
		questions, err := s.Questions(t.Context(), c.filter)
		var ids []string
		for _, q := range questions {
			ids = append(ids, q.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || err != nil {
			t.Errorf("%+v: %s (%v), want %s", c.filter, got, err, c.want)
		}
	}
}

func TestAnIDIsFoundByItsStart(t *testing.T) {
	s := openAt(t, dirsAt(t))
	for i, run := range []string{"r-k3v9x2ab", "r-k3zzzzzz", "r-h4k7mpaa"} {
		c := firstChange()
		c.Run.ID, c.Event.Run = run, run
		c.Agents[0].ID, c.Agents[0].Run = fmt.Sprintf("a-7Qm2xK9fWb%d0", i), run
		c.Questions[0].ID, c.Questions[0].Run = fmt.Sprintf("q-h4k7m%d", i), run
		c.Launches, c.Deliveries = nil, nil
		commit(t, s, c)
	}
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 2}, Questions: []*Question{{ID: "q-h4k7mp", Run: testRun}}})
	for id, run := range map[string]Run{
		"r-n1": {Name: "nightly", EndedAt: &noon}, "r-n2": {Name: "nightly"}, "r-n3": {Name: "twice"},
		"r-n4": {Name: "twice"},
		"r-n5": {Name: "h4k7m2"}, "r-n6": {Name: "k3"}, "r-n7": {Name: "r-weekly"}, "r-n8": {Name: "over", EndedAt: &noon},
		"r-n9": {Name: "r-h4k7mpaa"},
	} {
		run.ID = id
		commit(t, s, Change{Run: &run, Event: Event{Run: id, Seq: 1}})
	}

	for typed, want := range map[string]string{
		"r-k3v9x2ab":     "run r-k3v9x2ab",
		"k3v9x2ab":       "run r-k3v9x2ab",
		"r-k3v":          "run r-k3v9x2ab",
		"k3z":            "run r-k3zzzzzz",
		"a-7Qm2xK9fWb1":  "agent a-7Qm2xK9fWb10",
		"7Qm2xK9fWb10":   "agent a-7Qm2xK9fWb10",
		"q-h4k7m2":       "question q-h4k7m2",
		"h4k7m0":         "question q-h4k7m0",
		"h4k7mp":         "question q-h4k7mp", // also the start of r-h4k7mpaa, but whole
		"q-h4k7mp":       "question q-h4k7mp",
		"r-h":            "run r-h4k7mpaa",
		"k3v":            "run r-k3v9x2ab",
		"k":              "several r-k3v9x2ab r-k3zzzzzz",
		"r-k":            "several r-k3v9x2ab r-k3zzzzzz",
		"nightly":        "run r-n2", // the other has ended
		"over":           "run r-n8", // though it has
		"twice":          "several r-n3 r-n4",
		"k3":             "run r-n6",          // a name wins over the start of an id,
		"r-weekly":       "run r-n7",          // may look like one,
		"h4k7m2":         "question q-h4k7m2", // and no name hides a whole id
		"r-h4k7mpaa":     "run r-h4k7mpaa",
		"night":          "nothing",
		"h4k7mpa":        "run r-h4k7mpaa",
		"h4":             "several q-h4k7m0 q-h4k7m1 q-h4k7m2 q-h4k7mp r-h4k7mpaa",
		"":               "nothing",
		"zz":             "nothing",
		"q-k3":           "nothing",
		"r-%":            "nothing",
		"k3v9x2ab' OR 1": "nothing",
		"\xff\x00":       "nothing",
	} {
		kind, id, err := s.Resolve(t.Context(), typed)
		got := kind + " " + id
		if several, ok := errors.AsType[*AmbiguousError](err); ok {
			got = "several " + strings.Join(several.Candidates, " ")
		} else if unknown, ok := errors.AsType[*UnknownError](err); ok && unknown.ID == typed {
			got = "nothing"
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}

func TestOnlyTheFirstOfManyCandidatesAreListed(t *testing.T) {
	s := openAt(t, dirsAt(t))
	fill(t, s, 30, 0)
	_, _, err := s.Resolve(t.Context(), "q-")
	several, ok := errors.AsType[*AmbiguousError](err)
	if !ok || len(several.Candidates) != candidatesMax || !several.More ||
		!strings.HasSuffix(err.Error(), "…; type more of the one that is meant") {
		t.Errorf("got %v", err)
	}
}

// With an index for everything that is asked, what was long ago costs nothing. Query plans say so without a clock.
func TestNoCommandReadsThroughAWholeTable(t *testing.T) {
	s := openAt(t, dirsAt(t))
	ctx := t.Context()
	c := firstChange()
	c.CheckInbox, c.Taken = true, 1
	commit(t, s, c)
	_, err1 := s.Answer(ctx, InboxEntry{Question: testQuestion, Value: "sqlite", By: "me", At: noon})
	_, err2 := s.Leave(ctx, InboxEntry{Run: testRun, Kind: "stop"})
	_, err3 := s.Runs(ctx, false)
	_, err4 := s.Run(ctx, testRun)
	_, err5 := s.Agents(ctx, testRun)
	_, err6 := s.LiveLaunches(ctx, testRun)
	_, err7 := s.Questions(ctx, QuestionFilter{Undelivered: true})
	_, err8 := s.Questions(ctx, QuestionFilter{ID: testQuestion})
	_, err13 := s.Questions(ctx, QuestionFilter{Agent: testAgent})
	_, err9 := s.Load(ctx, testRun)
	_, err10 := s.Events(ctx, testRun, 3)
	_, err11 := s.Inbox(ctx, testRun, 3)
	_, _, err12 := s.Resolve(ctx, testRun)
	if _, _, err := s.Resolve(ctx, "a name"); err == nil {
		t.Error("a name is found that nobody gave")
	}
	exported, err14 := s.Export(ctx, testRun)
	_, err15 := s.EndedRuns(ctx, noon)
	c.Run.EndedAt = &noon
	err16 := s.Commit(ctx, Change{Run: c.Run})
	err17 := s.Remove(ctx, testRun)
	err18 := s.Import(ctx, exported)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11,
		err12, err13, err14, err15, err16, err17, err18); err != nil {
		t.Fatal(err)
	}
	for query := range s.prepared {
		rows, err := s.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		noError(t, err)
		for rows.Next() {
			var id, parent, unused sql.RawBytes
			var step string
			noError(t, rows.Scan(&id, &parent, &unused, &step))
			if strings.HasPrefix(step, "SCAN") && !allowedScan(step) || strings.Contains(step, "rowid>?") {
				t.Errorf("%s\n\treads through a table: %s", query, step)
			}
		}
		noError(t, errors.Join(rows.Err(), rows.Close()))
	}
}

func allowedScan(step string) bool {
	return step == "SCAN CONSTANT ROW" || strings.Contains(step, "json_each") ||
		strings.Contains(step, "questions_undelivered") ||
		step == "SCAN sqlite_schema" // a handful of rows
}
