package service

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// lookedAgo says that the person looked last some time ago.
func lookedAgo(t *testing.T, dirs checkpoints.Dirs, ago time.Duration) time.Time {
	t.Helper()
	at := checkpoints.Now().Add(-ago)
	if err := client.Looked.Set(dirs, at); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestWhoWasAwayIsToldOnceWhatHasHappened(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		t.Fatal(err)
	}
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("before there is a state it is %+v", got)
	}
	if _, err := os.Lstat(dirs.State); err == nil {
		t.Error("a look has made a state")
	}
	waits := storetest.NewSaver(t, dirs, "r-aaaaaaaa")
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("at the first look it is %+v", got)
	}
	lookedAgo(t, dirs, time.Hour)
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("where nothing has happened it is %+v", got)
	}
	since := lookedAgo(t, dirs, time.Hour)
	before, after := since.Add(-time.Minute), since.Add(time.Minute)
	asked := func(id string, at time.Time, by string, when time.Time, how func(*supervisor.Question)) *supervisor.Question {
		q := &supervisor.Question{ID: id, Kind: questions.AskClarification, Run: "r-aaaaaaaa", Agent: "a-aaaaaaaa",
			State: supervisor.Open, AskedAt: at}
		if by != "" {
			q.State, q.Response = checkpoints.QuestionDelivered, checkpoints.Response{AnsweredAt: &when, AnsweredBy: by}
		}
		if how != nil {
			how(q)
		}
		return q
	}
	waits.Run.Status = checkpoints.Waiting
	waits.Commit(checkpoints.Change{Run: &waits.Run, Questions: []*supervisor.Question{
		asked("q-aaaaaa", before, "", after, nil),
		asked("q-bbbbbb", after, "", after, nil),
		asked("q-cccccc", before, "the phone", after, nil),
		asked("q-dddddd", before, "the phone", before, nil),
		asked("q-eeeeee", before, "a person on pts/1", after, nil),
		asked("q-gggggg", before, "a person by the page from 127.0.0.1", after, nil),
		asked("q-ffffff", before, "--allow", after, func(q *supervisor.Question) { q.ByRule = true }),
	}})
	ends := func(id string, how supervisor.Status, at time.Time, cost float64) {
		s := storetest.NewSaver(t, dirs, id)
		s.Run.Status, s.Run.EndedAt = how, &at
		s.Commit(checkpoints.Change{Run: &s.Run, Agents: []*supervisor.Agent{{ID: s.Run.Root, Run: id, Usage: checkpoints.Usage{CostUSD: cost}}}})
	}
	ends("r-bbbbbbbb", checkpoints.Succeeded, after, 0.25)
	ends("r-cccccccc", checkpoints.Partial, after, 0.5)
	ends("r-dddddddd", checkpoints.Failed, after, 0.125)
	ends("r-eeeeeeee", checkpoints.Stopped, after, 0)
	ends("r-ffffffff", checkpoints.Succeeded, before, 4)

	want := view.Away{Answered: 1, Asked: 1, Waiting: 2, Done: 2, Failed: 1, Stopped: 1, CostUSD: 0.875}
	got := Machine{}.Look(t.Context())
	if want.Since = got.Since; got != want || !got.Since.Equal(since.Truncate(time.Nanosecond)) {
		t.Errorf("it is %+v, want %+v since %v", got, want, since)
	}
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("it is told twice: %+v", got)
	}
	lookedAgo(t, dirs, Absence/2) // the same, seen by somebody who was here
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("who was not away is told %+v", got)
	}
	lookedAgo(t, dirs, -time.Hour) // the clock was set back
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) || client.Looked.At(dirs).After(checkpoints.Now()) {
		t.Errorf("after the clock was set back it is %+v, looked at %v", got, client.Looked.At(dirs))
	}
}

func TestWhoMayNotWriteTheirStateIsKeptFromNothing(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		t.Fatal(err)
	}
	storetest.NewSaver(t, dirs, "r-aaaaaaaa")
	if err := os.MkdirAll(filepath.Join(dirs.State, "looked", "at"), 0o700); err != nil { // what is no mark of ours
		t.Fatal(err)
	}
	if got := (Machine{}).Look(t.Context()); got != (view.Away{}) {
		t.Errorf("it is %+v", got)
	}
}
