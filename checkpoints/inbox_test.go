package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheFirstAnswerWinsAmongGoroutines(t *testing.T) {
	d := dirsAt(t)
	commit(t, openAt(t, d), firstChange())
	stores := []*Store{openAt(t, d), openAt(t, d), openAt(t, d)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var winners []string
	losers := map[string]int{} // by whom they lost to
	for i := range 24 {
		wg.Go(func() {
			me := fmt.Sprintf("person %d", i)
			note, err := stores[i%len(stores)].Answer(t.Context(),
				InboxEntry{Question: testQuestion, Value: me, By: me, At: noon})
			mu.Lock()
			defer mu.Unlock()
			var taken *TakenError
			switch {
			case err == nil && note.Value == me && note.Run == testRun && note.Agent == testAgent:
				winners = append(winners, me)
			case errors.As(err, &taken) && taken.Question == testQuestion && taken.Answer == taken.By && taken.At.Equal(noon):
				losers[taken.By]++
			default:
				t.Errorf("%s got %+v, %v", me, note, err)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 || losers[winners[0]] != 23 {
		t.Errorf("won: %v; lost: %v", winners, losers)
	}
}

func TestTheFirstAnswerWinsAmongProcesses(t *testing.T) {
	d := dirsAt(t)
	s := openAt(t, d)
	commit(t, s, firstChange())
	var children []*child
	for range 4 {
		c := startChild(t, "answer", d)
		if line := c.line(t); line != "ready" {
			t.Fatal(line)
		}
		children = append(children, c)
	}
	for _, c := range children {
		noError(t, c.stdin.Close())
	}
	said := map[string]int{}
	for _, c := range children {
		for c.lines.Scan() {
			said[c.lines.Text()]++
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	notes, err := s.Inbox(t.Context(), testRun, 0)
	if err != nil || len(notes) != 1 {
		t.Fatalf("inbox: %v, %v", notes, err)
	}
	if said["won "+notes[0].By] != 1 || said["lost to "+notes[0].By] != 15 || len(said) != 2 {
		t.Errorf("the inbox has %q; the processes said %v", notes[0].By, said)
	}
}

func TestWhatCanBeAnsweredAndChanged(t *testing.T) {
	at := noon.Add(time.Minute)
	answered := func(q *Question) {
		q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, "postgres", "--answer", &at
	}
	var noTaken *TakenError
	taken := &TakenError{Question: testQuestion, By: "--answer", At: at, Answer: "postgres"}
	for name, c := range map[string]struct {
		record         func(*Question)
		note           bool // an answer lies in the inbox
		answer, change error
	}{
		"open":                 {func(*Question) {}, false, nil, ErrUnanswered},
		"open with a note":     {func(*Question) {}, true, noTaken, nil},
		"answered":             {answered, false, taken, nil},
		"answered, on its way": {func(q *Question) { answered(q); q.Delivering = true }, false, taken, ErrDelivering},
		"delivered": {func(q *Question) {
			answered(q)
			q.State = QuestionDelivered
		}, false, taken, ErrDelivering},
		"withdrawn":               {func(q *Question) { q.State = QuestionWithdrawn }, false, ErrWithdrawn, ErrWithdrawn},
		"withdrawn with a note":   {func(q *Question) { q.State = QuestionWithdrawn }, true, ErrWithdrawn, ErrWithdrawn},
		"not there":               {func(q *Question) { q.ID = "q-222222" }, false, ErrNoQuestion, ErrNoQuestion},
		"open with a note, begun": {func(q *Question) { q.Delivering = true }, true, noTaken, ErrDelivering},
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, dirsAt(t))
			change := firstChange()
			if c.note {
				commit(t, s, change)
				if _, err := s.Answer(t.Context(),
					InboxEntry{Question: testQuestion, Value: "sqlite", By: "terminal", At: noon}); err != nil {
					t.Fatal(err)
				}
				change.Event.Seq = 2
			}
			c.record(change.Questions[0])
			commit(t, s, change)

			_, err := s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "mysql", By: "me", At: noon})
			check(t, "answer", err, c.answer)
			if c.answer == nil {
				return // it has an answer now
			}
			note, err := s.ChangeAnswer(t.Context(), InboxEntry{Question: testQuestion, Value: "mysql", By: "me", At: noon})
			check(t, "change", err, c.change)
			if err == nil && (note.Kind != EntryChange || note.Value != "mysql" || note.Seq == 0) {
				t.Errorf("changed by %+v", note)
			}
		})
	}
}

// An agent has read why a run that it started was refused. Its client has said so, and no supervisor has looked since.
func TestARefusalThatAnAgentHasReadIsNotChanged(t *testing.T) {
	for name, scenario := range map[string]struct {
		seen   InboxEntry
		taken  bool // by the supervisor
		change error
	}{
		"its own client":           {InboxEntry{Kind: EntryNestedSeen, Agent: "a-child"}, false, ErrDelivering},
		"the client of another":    {InboxEntry{Kind: EntryNestedSeen, Agent: "a-other"}, false, nil},
		"a client that has gone":   {InboxEntry{Kind: "nested_left", Agent: "a-child"}, false, nil},
		"taken: the record counts": {InboxEntry{Kind: EntryNestedSeen, Agent: "a-child"}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, dirsAt(t))
			change := firstChange()
			q := change.Questions[0]
			q.Kind, q.Child, q.Nested = "delegation", "a-child", &Nested{Clients: 1}
			q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, "deny not now", "me", &noon
			commit(t, s, change)
			scenario.seen.Run, scenario.seen.At = testRun, noon
			note, err := s.Leave(t.Context(), scenario.seen)
			noError(t, err)
			if scenario.taken {
				change.Event.Seq, change.Taken = 2, note.Seq
				commit(t, s, change)
			}
			_, err = s.ChangeAnswer(t.Context(), InboxEntry{Question: testQuestion, Value: "approve", By: "me", At: noon})
			check(t, "change", err, scenario.change)
		})
	}
}

func check(t *testing.T, what string, got, want error) {
	t.Helper()
	if wanted, ok := errors.AsType[*TakenError](want); ok {
		taken, ok := errors.AsType[*TakenError](got)
		if !ok || wanted != nil && *taken != *wanted {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		return
	}
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestASkipIsAnAnswer(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	if note, err := s.Answer(t.Context(),
		InboxEntry{Question: testQuestion, Skip: true, By: "terminal", At: noon}); err != nil || !note.Skip {
		t.Errorf("%+v, %v", note, err)
	}
	_, err := s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "sqlite", By: "late", At: noon})
	if taken, ok := errors.AsType[*TakenError](err); !ok || !taken.Skipped ||
		!strings.Contains(err.Error(), "skipped by terminal") {
		t.Errorf("got %v", err)
	}
}

func TestARefusalToAnswerIsAnAnswerAndCanBeChanged(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	note, err := s.Answer(t.Context(),
		InboxEntry{Question: testQuestion, Value: "not mine to say", Decline: true, By: "terminal", At: noon})
	if err != nil || !note.Decline || note.Kind != EntryAnswer {
		t.Errorf("%+v, %v", note, err)
	}
	_, err = s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "sqlite", By: "late", At: noon})
	taken, ok := errors.AsType[*TakenError](err)
	if !ok || !taken.Declined || !strings.Contains(err.Error(), `declined ("not mine to say") by terminal`) {
		t.Errorf("got %v", err)
	}
	if note, err = s.ChangeAnswer(t.Context(),
		InboxEntry{Question: testQuestion, Value: "sqlite", By: "terminal", At: noon}); err != nil || note.Decline {
		t.Errorf("%+v, %v", note, err)
	}
	_, err = s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "mysql", By: "late", At: noon})
	if taken, ok := errors.AsType[*TakenError](err); !ok || taken.Declined || taken.Answer != "sqlite" {
		t.Errorf("got %v", err)
	}
}

func TestNotesWaitInOrderUntilTheyAreTaken(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	var left []InboxEntry
	for _, kind := range []string{"stop", "resume", "stop"} {
		note, err := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: kind, By: "stop (pid 1)", At: noon})
		if err != nil || note.Seq == 0 {
			t.Fatalf("%+v, %v", note, err)
		}
		left = append(left, note)
	}
	inbox := func(after int64, want ...InboxEntry) {
		t.Helper()
		got, err := s.Inbox(t.Context(), testRun, after)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	inbox(0, left...)
	inbox(left[0].Seq, left[1], left[2])
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 2}, Taken: left[1].Seq})
	inbox(0, left[2])
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 3}, Taken: left[0].Seq}) // never back
	inbox(0, left[2])
	if l, err := s.Load(t.Context(), testRun); err != nil || l.Taken != left[1].Seq {
		t.Errorf("taken %d, %v", l.Taken, err)
	}
}

func TestLeaveTakesNoAnswersAndNothingForARunThatIsNotThere(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	for _, kind := range []string{EntryAnswer, EntryChange, ""} {
		if _, err := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: kind, Question: testQuestion}); err == nil {
			t.Errorf("left a note of kind %q", kind)
		}
	}
	_, err := s.Leave(t.Context(), InboxEntry{Run: "r-nothere0", Kind: "stop"})
	if unknown, ok := errors.AsType[*UnknownError](err); !ok || unknown.ID != "r-nothere0" {
		t.Errorf("got %v", err)
	}
}

func TestAChangeIsRefusedWhenTheInboxHasMoved(t *testing.T) {
	s := openAt(t, dirsAt(t))
	commit(t, s, firstChange())
	first, err := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: "stop"})
	noError(t, err)
	event := Event{Run: testRun, Seq: 2}
	if err := s.Commit(t.Context(), Change{Event: event, CheckInbox: true}); !errors.Is(err, ErrInboxMoved) {
		t.Errorf("with a new note: %v", err)
	}
	commit(t, s, Change{Event: event, CheckInbox: true, IfInboxAt: first.Seq})
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 3}, Taken: first.Seq})
	commit(t, s, Change{Event: Event{Run: testRun, Seq: 4}, CheckInbox: true}) // it is taken
}

// An answer may be changed until its delivery begins: whoever was told that the change is accepted must find it
// delivered.
func TestADeliveryCarriesTheLastAcceptedChange(t *testing.T) {
	for range 20 {
		d := dirsAt(t)
		supervisor, person := openAt(t, d), openAt(t, d)
		c := firstChange()
		commit(t, supervisor, c)
		if _, err := person.Answer(t.Context(),
			InboxEntry{Question: testQuestion, Value: "0", By: "person", At: noon}); err != nil {
			t.Fatal(err)
		}

		accepted := "0"
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := range 10 {
				value := fmt.Sprint(n + 1)
				_, err := person.ChangeAnswer(t.Context(), InboxEntry{Question: testQuestion, Value: value, By: "person", At: noon})
				if errors.Is(err, ErrDelivering) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				accepted = value
			}
		})
		wg.Go(func() {
			var at int64
			for {
				notes, err := supervisor.Inbox(t.Context(), testRun, at)
				if err != nil {
					t.Error(err)
					return
				}
				for _, n := range notes {
					c.Questions[0].Answer, at = n.Value, n.Seq
				}
				c.Event.Seq, c.Taken = 2, at
				c.Questions[0].State, c.Questions[0].Delivering = QuestionAnswered, true
				c.CheckInbox, c.IfInboxAt = true, at
				err = supervisor.Commit(t.Context(), c)
				if err == nil {
					return
				}
				if !errors.Is(err, ErrInboxMoved) {
					t.Error(err)
					return
				}
			}
		})
		wg.Wait()
		l, err := supervisor.Load(t.Context(), testRun)
		noError(t, err)
		if got := l.Questions[0].Answer; got != accepted {
			t.Fatalf("delivered %q, the person was told that %q stands", got, accepted)
		}
	}
}

func TestTheAnswersLeftAreTheNewestOfEachQuestionTakenOrNot(t *testing.T) {
	s := openAt(t, dirsAt(t))
	change := firstChange()
	second := *change.Questions[0]
	second.ID, second.Index = "q-333333", 1
	change.Questions = append(change.Questions, &second)
	commit(t, s, change)
	left := func(do func(context.Context, InboxEntry) (InboxEntry, error), question, value string) InboxEntry {
		t.Helper()
		n, err := do(t.Context(), InboxEntry{Question: question, Value: value, By: "me", At: noon})
		noError(t, err)
		return n
	}
	left(s.Answer, testQuestion, "mysql")
	first := left(s.ChangeAnswer, testQuestion, "postgres")
	change.Event.Seq, change.Taken = 2, first.Seq
	commit(t, s, change)
	if _, err := s.Leave(t.Context(), InboxEntry{Run: testRun, Kind: "stop", By: "me", At: noon}); err != nil {
		t.Fatal(err)
	}
	want := []InboxEntry{first, left(s.Answer, second.ID, "yes")}
	if got, err := s.AnswersLeft(t.Context(), testRun); err != nil || !cmp.Equal(got, want) {
		t.Errorf("they are %+v, %v", got, err)
	}
	if got, err := s.AnswersLeft(t.Context(), "r-22222222"); err != nil || len(got) > 0 {
		t.Errorf("another run has %+v, %v", got, err)
	}
}
