package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
)

// What waits is kept, however much has been asked; what is closed for a week, or of five hundred, so that a session that
// asks all day leaves room for others.
func TestWhatIsClosedLeavesRoomForWhatIsAsked(t *testing.T) {
	d := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	if err := files.MakePrivate(Folder(d)); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	asks := transcript(t, callOne)
	kept := func(name string, s State, age time.Duration, transcript string) string {
		a := &Ask{Schema: schema, ID: checkpoints.QuestionPrefix + name, State: s, Transcript: transcript, Call: "t1",
			Questions: []*checkpoints.Question{{ID: checkpoints.QuestionPrefix + name, State: checkpoints.QuestionOpen,
				AskedAt: now.Add(-age)}}}
		if err := a.save(d); err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	answered := kept("answered", Answered, time.Second, transcript(t, callOne, byHook))
	tidy(d, now)
	if a, _ := Find(d, answered); a == nil || !a.Settled || a.State != Answered {
		t.Errorf("what is closed is shown as %+v", a)
	}
	for i := range maxClosed + 100 {
		name := filepath.Join(closed(d), fmt.Sprintf("%sc%05d.json", checkpoints.QuestionPrefix, i))
		at := now.Add(-time.Duration(i) * time.Second)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(closed(d), answered+".json")
	ended, forgotten := kept("ended", Ended, 4*keepFor, asks), kept("forgotten", Ended, 6*keepFor, asks)
	open := kept("open", Open, 6*keepFor, asks)
	lock := flock.New(pathOf(d, open, ".lock"))
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	defer lock.Close()
	tidy(d, now)
	left, _ := ids(d)
	if !slices.Equal(left, []string{ended, open}) {
		t.Errorf("open are %v, without %s", left, forgotten)
	}
	if left, _ := idsIn(closed(d)); len(left) != maxClosed || !slices.Contains(left, answered) ||
		slices.Contains(left, fmt.Sprintf("%sc%05d", checkpoints.QuestionPrefix, maxClosed+1)) {
		t.Errorf("%d closed ones are kept", len(left))
	}
	if err := os.Chtimes(old, now, now.Add(-keepFor-time.Second)); err != nil {
		t.Fatal(err)
	}
	if tidy(d, now); exists(old) {
		t.Error("what closed a week ago is kept")
	}
}

// Who looks again reads only what has changed, and sees all of that.
// Two machines may have one home: neither says what became of the other's.
func TestAnAskOfAnotherMachineIsAsItsFileSays(t *testing.T) {
	thisMachine = func() string { return "this" }
	t.Cleanup(func() { thisMachine = procs.Machine })
	for machine, want := range map[string]State{"another": Open, "this": OnScreen, "": OnScreen} {
		a := &Ask{Machine: machine, State: Open, Questions: []*checkpoints.Question{{ID: "q-1", State: checkpoints.QuestionOpen}}}
		a.conclude(checkpoints.Dirs{State: t.TempDir()})
		if a.State != want {
			t.Errorf("of %q it is %s", machine, a.State)
		}
	}
}

func TestAReaderThatLooksAgainSeesEachChange(t *testing.T) {
	d := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	if err := files.MakePrivate(Folder(d)); err != nil {
		t.Fatal(err)
	}
	says := transcript(t, callOne)
	id := checkpoints.QuestionPrefix + "one"
	a := &Ask{Schema: schema, ID: id, State: Open, Transcript: says, Call: "t1", Claude: procs.This(),
		Questions: []*checkpoints.Question{{ID: id, State: checkpoints.QuestionOpen, AskedAt: time.Now()}}}
	if err := a.save(d); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(pathOf(d, id, ".lock"))
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	var m Memory
	sees := func(want State, same *Ask) *Ask {
		t.Helper()
		all, err := All(d, &m)
		if err != nil || len(all) != 1 || all[0].State != want || same != nil && all[0] != same {
			t.Fatalf("it sees %+v: %v", all, err)
		}
		return all[0]
	}
	sees(Open, sees(Open, nil)) // nothing has changed: it is not read again
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	sees(Withdrawn, sees(Withdrawn, nil))
	if err := os.WriteFile(says, []byte(callOne+"\n"+result+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sees(OnScreen, nil)
	a.Claude = procs.Other{}
	if err := errors.Join(a.save(d), os.WriteFile(says, []byte(callOne+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	sees(Ended, nil)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A session that asks five hundred times leaves no more open than it asks now.
func TestASessionThatAsksAllDayLeavesRoom(t *testing.T) {
	t.Parallel()
	times := 500
	if testing.Short() {
		times = 50
	}
	d := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	conversation, err := os.Create(path)
	if err = errors.Join(err, WriteModes(d, Modes{"": ModeAsk})); err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
	var last string
	for i := range times {
		id := fmt.Sprintf("t%d-", i)
		call, result := strings.ReplaceAll(callOne, "t1", id), strings.ReplaceAll(byHook, "t1", id)
		asked := input{Event: "PermissionRequest", Session: "s", Transcript: path, Cwd: "/w", Tool: "Bash",
			Input: json.RawMessage(`{"a":1,"b":2}`)}
		w, err := begin(d, asked, "", seen, procs.This(), ModeAsk)
		if err != nil {
			t.Fatal(i, err)
		}
		fmt.Fprintln(conversation, call)
		if _, over := w.look(); over || w.ask.Call != id {
			t.Fatalf("%d: over is %v, and its call %q", i, over, w.ask.Call)
		}
		last = w.ask.ID
		if err := w.ask.answer(given{last, Given{Answer: "allow"}}, time.Now()); err != nil {
			t.Fatal(i, err)
		}
		w.end(Answered)
		fmt.Fprintln(conversation, at(result, time.Now().Unix()))
		tidy(d, time.Now())
		if left, err := ids(d); err != nil || len(left) > 1 {
			t.Fatalf("%d: %d are not closed, %v", i, len(left), err)
		}
	}
	if a, _ := Find(d, last); a == nil || a.State != Answered {
		t.Errorf("the last is %+v", a)
	}
}
