package supervisor_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/view"
)

// An attended is a story that is saved as it goes on, and somebody who looks at it.
type attended struct {
	*supervisor.Story
	store *checkpoints.Store
	saved supervisor.State
	told  int // events that are saved
	looks view.Attending
}

func attend(t *testing.T, change func(*conf.Config)) *attended {
	t.Helper()
	store, err := checkpoints.Open(storetest.TestDirs(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &attended{Story: supervisor.Begin(t, change), store: store,
		looks: view.Attending{Run: supervisor.RunID, Said: map[int64]supervisor.InboxEntry{}}}
}

// sight saves what has happened and looks.
func (a *attended) sight() view.Snapshot {
	a.T.Helper()
	c := records.Changes(a.saved.Records, a.State.Records)
	for i, e := range a.Events[a.told:] {
		record, err := e.Record(supervisor.RunID, int64(a.told+i+1))
		if err != nil {
			a.T.Fatal(err)
		}
		c.Earlier = append(c.Earlier, record)
	}
	if n := len(c.Earlier) - 1; n >= 0 {
		c.Event, c.Earlier = c.Earlier[n], c.Earlier[:n]
		if err := a.store.Commit(a.T.Context(), c); err != nil {
			a.T.Fatal(err)
		}
	}
	a.saved, a.told = a.State, len(a.Events)
	s, err := a.looks.Look(a.T.Context(), view.Reader{Store: a.store})
	if err != nil {
		a.T.Fatal(err)
	}
	s.Run = view.RunView{SupervisorPID: a.State.Run.PID, EndedAt: a.State.Run.EndedAt}
	return s
}

// sees looks, and wants this news.
func (a *attended) sees(want ...string) {
	a.T.Helper()
	var got []string
	for _, n := range a.sight().News {
		text := n.Text
		if n.Question != nil {
			text = n.Question.ID
		}
		got = append(got, strings.TrimSpace(string(n.Type)+" "+text))
	}
	if !slices.Equal(got, want) {
		a.T.Errorf("it sees %q, want %q", got, want)
	}
}

// becomes wants that said of a message that is left now.
func (a *attended) becomes(want string) {
	a.T.Helper()
	if got, err := a.sight().DeliveryForecast(""); err != nil || got != want {
		a.T.Errorf("a message becomes %q (%v), want %q", got, err, want)
	}
}

func TestWhoAttendsSeesWhatHappensInItsOrder(t *testing.T) {
	a := attend(t, func(c *conf.Config) { c.Hold = 0 })
	a.sees() // how it stands is no news
	a.Asks("q-1", "Which?")
	a.sees("question q-1")
	a.Ends()
	a.Rests(true)
	a.sees("parked asks: Which?")
	a.sees()
	a.Answers("q-1", "SQLite")
	a.Launches(2)
	a.sees("answered q-1", "resumed") // in one look, though the agent comes first among the records
	a.Do(supervisor.Stalled{Agent: supervisor.Root, Launch: 2, Since: a.At, Doing: "make test"})
	if news := a.sight().News; len(news) != 1 || !news[0].Trouble || !strings.Contains(news[0].Text, "make test") {
		t.Errorf("it sees %+v", news)
	}
}

func TestWhoComesLateSeesTheOpenQuestionsOnly(t *testing.T) {
	a := attend(t, nil)
	a.Asks("q-1", "Which?")
	a.sees("question q-1")
	a.sees()
	if open := a.sight().Open; len(open) != 1 || open[0].ID != "q-1" {
		t.Errorf("open are %+v", open)
	}
}

func TestAnEventOfANewerVersionIsPassedOver(t *testing.T) {
	a := attend(t, nil)
	a.sees()
	r, err := supervisor.Happened{At: a.At,
		Event: supervisor.Recovered{Agent: supervisor.Root, Launch: 1}}.Record(supervisor.RunID, int64(a.told+1))
	if err != nil {
		t.Fatal(err)
	}
	r.Type = "from_the_future"
	if err := a.store.Commit(t.Context(), checkpoints.Change{Run: a.State.Run, Event: r}); err != nil {
		t.Fatal(err)
	}
	a.told++
	s, err := a.looks.Look(t.Context(), view.Reader{Store: a.store})
	if err != nil || len(s.News) > 0 {
		t.Errorf("it sees %+v, %v", s.News, err)
	}
}

func TestAMessageIsToldOfWhenItIsLeftAndWhenItIsRead(t *testing.T) {
	a := attend(t, nil)
	a.Asks("q-1", "Which?")
	a.becomes("The agent reads it now, in a turn of its own.")
	a.Notes(supervisor.InboxEntry{Kind: supervisor.EntryMessage, Value: "use staging"})
	a.sees("message use staging")
	a.Delivers(1)
	a.sees("message_read use staging")
}

func TestWhatBecomesOfAMessageIsSaidBeforehand(t *testing.T) {
	a := attend(t, func(c *conf.Config) { c.Hold = 0 })
	a.becomes("The agent reads it when its turn has ended.") // of a release that is not known
	a.Do(supervisor.TurnBegun{Agent: supervisor.Root, Launch: 1, Version: "2.1.329"})
	a.becomes("The agent reads it in the turn that is under way.")
	a.Asks("q-1", "Which?")
	a.Ends()
	a.Rests(true)
	a.becomes("It is kept: the agent reads it once q-1 is answered.")
	a.Answers("q-1", "SQLite")
	a.becomes("The agent reads it as soon as it has started.")
	s := a.sight()
	s.Run.SupervisorPID = 0
	if got, err := s.DeliveryForecast(supervisor.Root); err != nil ||
		got != "It is kept: the agent reads it when the run continues." {
		t.Errorf("without a supervisor a message becomes %q, %v", got, err)
	}
	a.Launches(2)
	a.Notes(supervisor.InboxEntry{Kind: supervisor.EntryStop})
	a.becomes("It is kept: the agent reads it when it is started again.")
	a.Ends()
	a.Rests(true)
	if got, err := a.sight().DeliveryForecast(""); !errors.Is(err, supervisor.ErrEnded) {
		t.Errorf("to an agent that has ended it becomes %q, %v", got, err)
	}
}

func BenchmarkALookAtARunOfManyQuestions(b *testing.B) {
	store, err := checkpoints.Open(checkpoints.Dirs{State: b.TempDir(), Runtime: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	run := supervisor.Run{ID: supervisor.RunID, Root: supervisor.Root, StartedAt: checkpoints.Now(),
		Since: checkpoints.Now(), Config: []byte("{}")}
	c := checkpoints.Change{Run: &run, Agents: []*supervisor.Agent{{ID: supervisor.Root, Run: supervisor.RunID}}}
	c.Event = checkpoints.Event{Run: supervisor.RunID, Seq: 1, At: checkpoints.Now(), Type: "spoke", Doc: []byte("{}")}
	for i := range 200 {
		c.Questions = append(c.Questions,
			&supervisor.Question{ID: fmt.Sprintf("q-%d", i), Run: supervisor.RunID, Agent: supervisor.Root,
				State: checkpoints.QuestionDelivered})
	}
	if err := store.Commit(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	a := view.Attending{Run: supervisor.RunID, Said: map[int64]supervisor.InboxEntry{}}
	for b.Loop() {
		if _, err := a.Look(b.Context(), view.Reader{Store: store}); err != nil {
			b.Fatal(err)
		}
	}
}
