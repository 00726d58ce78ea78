package view

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/records"
)

// A loggedTree is a run whose agents' logs a test writes.
type loggedTree struct {
	*logged
	tree RunLog
}

const loggedChild = "a-childchild01"

func newLoggedTree(t *testing.T) *loggedTree {
	t.Helper()
	l := newLogged(t)
	tree, err := Reader{Dirs: l.Dirs, Store: l.Store}.RunLog(t.Context(), l.Run.ID)
	if err != nil || tree.Agent != "" {
		t.Fatal(tree.Agent, err)
	}
	return &loggedTree{l, tree}
}

// starts lets a child be there.
func (l *loggedTree) starts() {
	l.T.Helper()
	l.Commit(checkpoints.Change{Run: &l.Run, Agents: []*supervisor.Agent{{
		ID: loggedChild, Run: l.Run.ID, Parent: l.Run.Root, Depth: 1, Delegated: &checkpoints.Delegated{Name: "schema"},
	}}})
}

// says prints a line of an agent, so many seconds after ten o'clock.
func (l *loggedTree) says(agent string, second int, text string) {
	l.T.Helper()
	path := l.path
	l.path = l.Dirs.AgentLog(l.Run.ID, agent)
	l.write(fmt.Sprintf(`{"launch":1,"time":"2026-11-21T10:00:%02dZ","line":{"type":"raw","text":%q}}`+"\n", second, text))
	l.path = path
}

// inShort says a line without its time.
func inShort(line LogLine) string {
	var texts []string
	for _, text := range line.Said() {
		texts = append(texts, unstamped(text))
	}
	return strings.Join(texts, "\n")
}

func TestTheLogsOfARunAreToldInTheOrderOfTimeWithWhoseTheyAre(t *testing.T) {
	l := newLoggedTree(t)
	if err := l.tree.Each(t.Context(), func(LogLine) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	l.starts()
	l.says(l.Run.Root, 1, "one")
	l.says(l.Run.Root, 4, "four")
	l.says(l.Run.Root, 4, "also four")
	l.says(loggedChild, 2, "two")
	l.says(loggedChild, 3, "three\r\nand more")
	l.says(loggedChild, 4, "four of the child")
	var got []string
	if err := l.tree.Each(t.Context(), func(line LogLine) error {
		got = append(got, inShort(line))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"root: one", "schema: two", "schema: three\r\nand more", "root: four", "root: also four",
		"schema: four of the child"}
	if !slices.Equal(got, want) {
		t.Errorf("it tells %q, want %q", got, want)
	}
	gone := errors.New("gone")
	if err := l.tree.Each(t.Context(), func(LogLine) error { return gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestTheLastThingsThatARunSaysAreInTheOrderOfTime(t *testing.T) {
	l := newLoggedTree(t)
	l.starts()
	l.says(l.Run.Root, 1, "one")
	l.says(l.Run.Root, 4, "four")
	l.says(loggedChild, 2, "two")
	l.says(loggedChild, 3, "three")
	said, _, err := l.tree.Recent(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range said {
		said[i] = unstamped(said[i])
	}
	if want := []string{"schema: two", "schema: three", "root: four"}; !slices.Equal(said[max(len(said)-3, 0):], want) {
		t.Errorf("it tells %q, want %q at the end", said, want)
	}
}

func TestTheLogsOfARunAreFollowedWithThoseOfAgentsThatAreStartedMeanwhile(t *testing.T) {
	l := newLoggedTree(t)
	l.says(l.Run.Root, 1, "one")
	lines := make(chan string)
	ended := make(chan RunView, 1)
	go func() {
		v, err := l.tree.Follow(t.Context(), func(line LogLine) error { lines <- inShort(line); return nil })
		if err != nil {
			t.Error(err)
		}
		ended <- v
	}()
	tells := func(want string) {
		t.Helper()
		if got := <-lines; got != want {
			t.Errorf("it tells %q, want %q", got, want)
		}
	}
	tells("one")
	l.starts()
	l.says(loggedChild, 2, "two")
	tells("schema: two")
	l.says(l.Run.Root, 3, "three")
	tells("root: three")
	l.Leave(records.LeavingInterrupted)
	if v := <-ended; v.GoesOn() {
		t.Errorf("it ended with %+v", v)
	}
}

func TestAnAgentIsWaitedForUntilItHasEndedItself(t *testing.T) {
	l := newLoggedTree(t)
	l.starts()
	r := Reader{Dirs: l.Dirs, Store: l.Store}
	nodes, err := r.Awaitable(t.Context(), []string{loggedChild, l.Run.Root, l.Run.ID})
	if want := []Node{{Run: l.Run.ID, Agent: loggedChild}, {Run: l.Run.ID}}; err != nil || !slices.Equal(nodes, want) {
		t.Fatalf("it waits for %v (%v), want %v", nodes, err, want)
	}
	at := checkpoints.Now()
	l.Commit(checkpoints.Change{Run: &l.Run, Agents: []*supervisor.Agent{{
		ID: loggedChild, Run: l.Run.ID, Parent: l.Run.Root, Depth: 1, Status: checkpoints.Partial, EndedAt: &at,
		Delegated: &checkpoints.Delegated{},
	}}})
	end, err := r.await(t.Context(), nodes[0])
	if a := (Awaited{nodes[0], end}); err != nil || !end.GoesOn() || a.Code() != exit.Partial {
		t.Errorf("it ends with %d: %+v, %v", a.Code(), end, err)
	}
	l.Leave(records.LeavingInterrupted)
	if end, err = r.await(t.Context(), nodes[1]); err != nil ||
		(Awaited{nodes[1], end}).Code() != exit.Interrupted {
		t.Errorf("the run ends with %+v, %v", end, err)
	}
	above, err := r.Above(t.Context(), loggedChild)
	if want := []Node{{Run: l.Run.ID}, {Run: l.Run.ID, Agent: loggedChild},
		{Run: l.Run.ID, Agent: l.Run.Root}}; err != nil || !slices.Equal(above, want) {
		t.Errorf("above it is %v (%v), want %v", above, err, want)
	}
}
