package supervisor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
)

// An attended is a story that is saved as it goes on, and somebody who looks at it.
type attended struct {
	*story
	store *checkpoints.Store
	saved State
	told  int // events that are saved
	looks attending
}

func attend(t *testing.T, change func(*Config)) *attended {
	t.Helper()
	store, err := checkpoints.Open(testDirs(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &attended{story: begin(t, change), store: store, looks: attending{run: runID, said: map[int64]Note{}}}
}

// sight saves what has happened and looks.
func (a *attended) sight() Sight {
	a.t.Helper()
	c := changes(a.saved, a.state)
	for i, e := range a.events[a.told:] {
		record, err := e.record(runID, int64(a.told+i+1))
		if err != nil {
			a.t.Fatal(err)
		}
		c.Earlier = append(c.Earlier, record)
	}
	if n := len(c.Earlier) - 1; n >= 0 {
		c.Event, c.Earlier = c.Earlier[n], c.Earlier[:n]
		if err := a.store.Commit(a.t.Context(), c); err != nil {
			a.t.Fatal(err)
		}
	}
	a.saved, a.told = a.state, len(a.events)
	s, err := a.looks.look(a.t.Context(), Reader{Store: a.store})
	if err != nil {
		a.t.Fatal(err)
	}
	s.Run = RunView{SupervisorPID: a.state.Run.PID, EndedAt: a.state.Run.EndedAt}
	return s
}

// sees looks, and wants this news.
func (a *attended) sees(want ...string) {
	a.t.Helper()
	var got []string
	for _, n := range a.sight().News {
		text := n.Text
		if n.Question != nil {
			text = n.Question.ID
		}
		got = append(got, strings.TrimSpace(string(n.Type)+" "+text))
	}
	if !slices.Equal(got, want) {
		a.t.Errorf("it sees %q, want %q", got, want)
	}
}

// becomes wants that said of a message that is left now.
func (a *attended) becomes(want string) {
	a.t.Helper()
	if got, err := a.sight().Becomes(""); err != nil || got != want {
		a.t.Errorf("a message becomes %q (%v), want %q", got, err, want)
	}
}

func TestWhoAttendsSeesWhatHappensInItsOrder(t *testing.T) {
	a := attend(t, func(c *Config) { c.Hold = 0 })
	a.sees() // how it stands is no news
	a.asks("q-1", "Which?")
	a.sees("question q-1")
	a.ends()
	a.rests(true)
	a.sees("parked asks: Which?")
	a.sees()
	a.answers("q-1", "SQLite")
	a.launches(2)
	a.sees("answered q-1", "resumed") // in one look, though the agent comes first among the records
	a.do(FellSilent{Agent: root, Launch: 2, Since: a.at, Doing: "make test"})
	if news := a.sight().News; len(news) != 1 || !news[0].Trouble || !strings.Contains(news[0].Text, "make test") {
		t.Errorf("it sees %+v", news)
	}
}

func TestWhoComesLateSeesTheOpenQuestionsOnly(t *testing.T) {
	a := attend(t, nil)
	a.asks("q-1", "Which?")
	a.sees("question q-1")
	a.sees()
	if open := a.sight().Open; len(open) != 1 || open[0].ID != "q-1" {
		t.Errorf("open are %+v", open)
	}
}

func TestAnEventOfANewerVersionIsPassedOver(t *testing.T) {
	a := attend(t, nil)
	a.sees()
	r, err := Event{At: a.at, Body: Spoke{Agent: root, Launch: 1}}.record(runID, int64(a.told+1))
	if err != nil {
		t.Fatal(err)
	}
	r.Type = "from_the_future"
	if err := a.store.Commit(t.Context(), checkpoints.Change{Run: a.state.Run, Event: r}); err != nil {
		t.Fatal(err)
	}
	a.told++
	s, err := a.looks.look(t.Context(), Reader{Store: a.store})
	if err != nil || len(s.News) > 0 {
		t.Errorf("it sees %+v, %v", s.News, err)
	}
}

func TestAMessageIsToldOfWhenItIsLeftAndWhenItIsRead(t *testing.T) {
	a := attend(t, nil)
	a.asks("q-1", "Which?")
	a.becomes("The agent reads it now, in a turn of its own.")
	a.notes(Note{Kind: noteMessage, Value: "use staging"})
	a.sees("message use staging")
	a.delivers(1)
	a.sees("message_read use staging")
}

func TestWhatBecomesOfAMessageIsSaidBeforehand(t *testing.T) {
	a := attend(t, func(c *Config) { c.Hold = 0 })
	a.becomes("The agent reads it when its turn has ended.") // of a release that is not known
	a.do(TurnBegun{Agent: root, Launch: 1, Version: "2.1.329"})
	a.becomes("The agent reads it in the turn that is under way.")
	a.asks("q-1", "Which?")
	a.ends()
	a.rests(true)
	a.becomes("It is kept: the agent reads it once q-1 is answered.")
	a.answers("q-1", "SQLite")
	a.becomes("The agent reads it as soon as it has started.")
	s := a.sight()
	s.Run.SupervisorPID = 0
	if got, err := s.Becomes(root); err != nil || got != "It is kept: the agent reads it when the run goes on." {
		t.Errorf("without a supervisor a message becomes %q, %v", got, err)
	}
	a.launches(2)
	a.notes(Note{Kind: noteStop})
	a.becomes("It is kept: the agent reads it when it is started again.")
	a.ends()
	a.rests(true)
	if got, err := a.sight().Becomes(""); !errors.Is(err, ErrEnded) {
		t.Errorf("to an agent that has ended it becomes %q, %v", got, err)
	}
}

func BenchmarkALookAtARunOfManyQuestions(b *testing.B) {
	store, err := checkpoints.Open(checkpoints.Dirs{State: b.TempDir(), Runtime: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	run := Run{ID: runID, Root: root, StartedAt: now(), Since: now(), Config: []byte("{}")}
	c := checkpoints.Change{Run: &run, Agents: []*Agent{{ID: root, Run: runID}}}
	c.Event = checkpoints.Event{Run: runID, Seq: 1, At: now(), Type: "spoke", Doc: []byte("{}")}
	for i := range 200 {
		c.Questions = append(c.Questions, &Question{ID: fmt.Sprintf("q-%d", i), Run: runID, Agent: root, State: checkpoints.QuestionDelivered})
	}
	if err := store.Commit(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	a := attending{run: runID, said: map[int64]Note{}}
	for b.Loop() {
		if _, err := a.look(b.Context(), Reader{Store: store}); err != nil {
			b.Fatal(err)
		}
	}
}
