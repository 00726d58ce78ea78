package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/records"
)

// answers lets a question of an agent be answered, so many seconds after ten o'clock.
func (l *loggedTree) answers(agent string, second int, r checkpoints.Response) {
	l.T.Helper()
	at := time.Date(2026, 11, 21, 10, 0, second, 0, time.UTC)
	r.AnsweredAt = &at
	l.Commit(checkpoints.Change{Run: &l.Run, Questions: []*supervisor.Question{{
		ID: fmt.Sprintf("q-%d", second), Run: l.Run.ID, Agent: agent, Who: "who", Group: fmt.Sprint("g", second),
		State: checkpoints.QuestionAnswered, AskedAt: at, Response: r,
	}}})
}

func (l *loggedTree) told(log RunLog) []string {
	l.T.Helper()
	var got []string
	if err := log.Each(l.T.Context(), func(line LogLine) error {
		got = append(got, inShort(line))
		return nil
	}); err != nil {
		l.T.Fatal(err)
	}
	return got
}

func TestTheLogHasTheAnswersWhereTheyWereGiven(t *testing.T) {
	l := newLoggedTree(t)
	l.starts()
	l.says(l.Run.Root, 1, "one")
	l.says(l.Run.Root, 5, "five")
	l.answers(loggedChild, 2, checkpoints.Response{Answer: "Redis", AnsweredBy: "ann"})
	l.answers(l.Run.Root, 3, checkpoints.Response{Declined: true, AnsweredBy: "bob"})
	l.answers(l.Run.Root, 4, checkpoints.Response{Skipped: true, AnsweredBy: "--answer x"})
	want := []string{"root: one", "who: [q-2] answered by ann: Redis", "who: [q-3] declined by bob",
		"who: [q-4] skipped by --answer x", "root: five"}
	if got := l.told(l.tree); !slices.Equal(got, want) {
		t.Errorf("it tells %q, want %q", got, want)
	}
	one := l.tree
	one.Agent = l.Run.Root
	if got, want := l.told(one), []string{"one", "[q-3] declined by bob", "[q-4] skipped by --answer x",
		"five"}; !slices.Equal(got, want) {
		t.Errorf("of one agent it tells %q, want %q", got, want)
	}
}

func TestAnAnswerIsToldWhileTheLogIsFollowed(t *testing.T) {
	l := newLoggedTree(t)
	l.says(l.Run.Root, 1, "one")
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() {
		_, err := l.tree.Follow(t.Context(), func(line LogLine) error { lines <- inShort(line); return nil })
		ended <- err
	}()
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "one"},
		{func() { l.answers(l.Run.Root, 3, checkpoints.Response{Answer: "a", AnsweredBy: "ann"}) },
			"who: [q-3] answered by ann: a"},
		{func() { l.says(l.Run.Root, 4, "four") }, "four"},
	} {
		step.do()
		if got := <-lines; got != step.want {
			t.Errorf("it tells %q, want %q", got, step.want)
		}
	}
	l.Leave(records.LeavingInterrupted)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOnlyTheEndOfALogIsTold(t *testing.T) {
	l := newLoggedTree(t)
	l.starts()
	long := strings.Repeat("x", 100<<10) // several steps of the reading
	for second := range 10 {
		l.says(l.Run.Root, 2*second, fmt.Sprint(2*second, long))
		l.says(loggedChild, 2*second+1, fmt.Sprint(2*second+1))
		l.says(loggedChild, 2*second+1, "")
	}
	l.answers(l.Run.Root, 17, checkpoints.Response{Answer: "a", AnsweredBy: "ann"})
	at := func(second int) time.Time { return time.Date(2026, 11, 21, 10, 0, second, 0, time.UTC) }
	for _, c := range []struct {
		last  int
		since time.Time
		want  []string
	}{
		{last: 1, want: []string{"19"}},
		{last: 3, want: []string{"[q-17]", "18", "19"}}, // of the same time the log comes first
		{last: 4, want: []string{"17", "[q-17]", "18", "19"}},
		{since: at(15), want: []string{"15", "16", "17", "[q-17]", "18", "19"}},
		{last: 2, since: at(15), want: []string{"18", "19"}},
		{last: 20, since: at(19), want: []string{"19"}},
		{since: at(30), want: nil},
	} {
		log, err := l.tree.Only(t.Context(), LogPart{Last: c.last, Since: c.since,
			Counts: func(line LogLine) bool { return len(line.Remarks()) > 0 }})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, text := range l.told(log) {
			if text == "" {
				continue // what is not counted
			}
			_, text, _ = strings.Cut(text, ": ")
			got = append(got, strings.TrimRight(strings.Fields(text)[0], "x"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("the last %d since %v are %q, want %q", c.last, c.since, got, c.want)
		}
	}
}

func TestATimeOfAnotherDayIsSaidWithItsDate(t *testing.T) {
	now := time.Now()
	if got, want := Stamp(now.UTC()), now.Local().Format(time.TimeOnly); got != want {
		t.Errorf("a time of today is %q, want %q", got, want)
	}
	before := now.AddDate(-1, 0, 0) // the same day of another year
	if got, want := Clock(before), before.Local().Format("2006-01-02 15:04"); got != want {
		t.Errorf("a time of last year is %q, want %q", got, want)
	}
}
