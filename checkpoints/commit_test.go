package checkpoints

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

func TestWhatWasCommittedIsLoaded(t *testing.T) {
	d := dirsAt(t)
	c := firstChange()
	c.Agents = append(c.Agents, &Agent{ID: "a-000000000000", Run: testRun, Parent: testAgent,
		Depth: 1, Status: Queued, Since: noon})
	c.Launches = append(c.Launches, &Launch{Agent: testAgent, N: 10, Phase: LaunchIntended},
		&Launch{Agent: testAgent, N: 2, Phase: LaunchEnded})
	c.Questions = append(c.Questions,
		&Question{ID: "q-222222", Run: testRun, Agent: testAgent, Group: "g1", Index: 1, State: QuestionOpen, AskedAt: noon})
	c.Deliveries = append(c.Deliveries,
		&Delivery{UUID: "00000000-0000-5000-8000-000000000000", Agent: testAgent, Seq: 2, CreatedAt: noon})
	commit(t, openAt(t, d), c)

	got, err := openAt(t, d).Load(t.Context(), testRun)
	noError(t, err)
	want := Loaded{
		Run:        *c.Run,
		Agents:     map[string]*Agent{testAgent: c.Agents[0], "a-000000000000": c.Agents[1]},
		Launches:   []*Launch{c.Launches[0], c.Launches[2], c.Launches[1]},
		Questions:  c.Questions,
		Deliveries: c.Deliveries,
		LastEvent:  1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestACommitReplacesWhatItNamesAndLeavesTheRestAlone(t *testing.T) {
	s := openAt(t, dirsAt(t))
	first := firstChange()
	commit(t, s, first)
	agent := *first.Agents[0]
	agent.Status = Running
	second := Event{Run: testRun, Seq: 2, At: noon, Type: "answered", Doc: json.RawMessage(`{}`)}
	commit(t, s, Change{Agents: []*Agent{&agent}, Event: second})

	got, err := s.Load(t.Context(), testRun)
	noError(t, err)
	want := Loaded{
		Run: *first.Run, Agents: map[string]*Agent{testAgent: &agent}, Launches: first.Launches,
		Questions: first.Questions, Deliveries: first.Deliveries, LastEvent: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	events, err := s.Events(t.Context(), testRun, 0)
	if diff := cmp.Diff([]Event{first.Event, second}, events); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if events, err = s.Events(t.Context(), testRun, 1); len(events) != 1 || err != nil {
		t.Errorf("after the first: %v, %v", events, err)
	}
}

func TestAChangeThatDoesNotFitIsRefusedWhole(t *testing.T) {
	other := firstChange()
	other.Run.ID, other.Event.Run = "r-other000", "r-other000"
	other.Agents[0].ID, other.Agents[0].Run = "a-other0000000", "r-other000"
	other.Launches, other.Questions, other.Deliveries = nil, nil, nil

	for name, c := range map[string]struct {
		spoil func(*Change)
		want  error
	}{
		"an event that was saved already": {func(c *Change) { c.Event.Seq = 1 }, ErrOutOfOrder},
		"an event after a gap":            {func(c *Change) { c.Event.Seq = 3 }, ErrOutOfOrder},
		"another run's agent's id":        {func(c *Change) { c.Agents[0].ID = "a-other0000000" }, ErrDuplicateID},
		"another run's agent":             {func(c *Change) { c.Agents[0].Run = "r-other000" }, nil},
		"another run's record":            {func(c *Change) { c.Run.ID = "r-other000" }, nil},
		"an id that climbs":               {func(c *Change) { c.Agents[0].ID = "../../etc" }, nil},
		"an id with a slash":              {func(c *Change) { c.Questions[0].ID = "q-1/2" }, nil},
		"a document that is not JSON":     {func(c *Change) { c.Run.Config = json.RawMessage(`{`) }, nil},
		"an event that is not JSON":       {func(c *Change) { c.Event.Doc = json.RawMessage(`{`) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, dirsAt(t))
			commit(t, s, firstChange())
			commit(t, s, other)
			before, err := s.Load(t.Context(), testRun)
			noError(t, err)
			change := firstChange()
			change.Run.Reason = "changed"
			change.Event.Seq = 2
			c.spoil(&change)
			if err := s.Commit(t.Context(), change); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			after, err := s.Load(t.Context(), testRun)
			if diff := cmp.Diff(before, after); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestAFullDiskLosesNothingAndTheSameChangeMayBeTriedAgain(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	if err := s.exec(t.Context(), `PRAGMA max_page_count = 1`); err != nil { // as many as there are
		t.Fatal(err)
	}
	big := firstChange()
	big.Event.Seq = 2
	big.Agents[0].Task = strings.Repeat("all work and no play ", 10_000)
	if err := s.Commit(t.Context(), big); !errors.Is(err, errFull) {
		t.Fatalf("got %v", err)
	}
	if l, err := s.Load(t.Context(), testRun); err != nil || l.LastEvent != 1 ||
		l.Agents[testAgent].Task != firstChange().Agents[0].Task {
		t.Errorf("loaded event %d of %v (%v)", l.LastEvent, l.Agents, err)
	}
	noError(t, s.exec(t.Context(), `PRAGMA max_page_count = 1000000`))
	commit(t, s, big)
}

func TestACommitThatHasBegunIsNotCutShort(t *testing.T) {
	s := openAt(t, dirsAt(t))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.write(ctx, "save", func(ctx context.Context) error {
		cancel()
		return s.exec(ctx, putRun, testRun, 0, 0, `{}`)
	})
	if err != nil {
		t.Errorf("cut short: %v", err)
	}
	if err := s.Commit(ctx, firstChange()); !errors.Is(err, context.Canceled) {
		t.Errorf("begun too late: %v", err)
	}
	if l, err := s.Load(t.Context(), testRun); err != nil || l.LastEvent != 0 {
		t.Errorf("loaded %+v, %v", l, err)
	}
}

func TestAWriterInTheQueueCanBeCalledOff(t *testing.T) {
	d := dirsAt(t)
	s := openAt(t, d)
	inFront := queue(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Commit(ctx, firstChange()) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	noError(t, inFront.Close())
	commit(t, s, firstChange()) // nothing of it was saved, and nobody is in the way
}

func TestAWriterThatNeverGetsItsTurnGoesAhead(t *testing.T) {
	d := dirsAt(t)
	s := openAt(t, d)
	queue(t, d)
	s.patience = 0
	commit(t, s, firstChange())
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 2}})
}

func TestWritersThatGiveUpLeaveOneWaitBehindForTheNext(t *testing.T) {
	d := dirsAt(t)
	s := openAt(t, d)
	inFront, patience, before := queue(t, d), s.patience, runtime.NumGoroutine()
	s.patience = 0
	for range 5 {
		commit(t, s, Change{})
	}
	if left := runtime.NumGoroutine() - before; left > 1 {
		t.Errorf("%d waits are left", left)
	}
	noError(t, inFront.Close())
	s.patience = patience
	commit(t, s, firstChange())
}

// queue stands in front of all writers, as a process does that was stopped in its turn.
func queue(t *testing.T, d Dirs) *flock.Flock {
	t.Helper()
	turn := flock.New(d.State, flock.SetFlag(os.O_RDONLY))
	noError(t, turn.Lock())
	t.Cleanup(func() { _ = turn.Close() })
	return turn
}

func TestADatabaseThatIsKeptBusyIsSaidToBe(t *testing.T) {
	d := dirsAt(t)
	s, other := openAt(t, d), openAt(t, d)
	noError(t, s.exec(t.Context(), `PRAGMA busy_timeout = 0`))
	s.patience = 0
	err := other.write(t.Context(), "keep", func(ctx context.Context) error { return s.Commit(ctx, firstChange()) })
	if !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
	commit(t, s, firstChange())
}
