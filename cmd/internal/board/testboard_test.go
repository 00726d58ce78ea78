package board

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// fakeService has nothing but what is given to Update, and logs.
type fakeService struct {
	service.Service
	*fakeActions
	logs  map[string][]string
	diffs map[string]string
}

func (s fakeService) Answer(ctx context.Context, id string, a service.Answer) (service.Kept, error) {
	return s.fakeActions.Answer(ctx, id, a)
}

func (s fakeService) Stop(_ context.Context, id, _ string) (string, error) { return s.did("stop", id) }

func (fakeService) Watch(context.Context, <-chan struct{}, func(view.Overview) error) error {
	return nil
}

func (fakeService) Past(context.Context, int, int) ([]view.RunView, error) {
	return []view.RunView{run("r-old", "succeeded")}, nil
}

func (fakeService) Show(_ context.Context, id string) (view.Details, error) {
	r := run("r-one", "running")
	return view.Details{Agent: id, Run: r, Worktrees: map[string]view.WorktreeView{
		"a-kid": {State: "kept", Merge: []string{"git merge b"}, Drop: []string{"git branch -D b"}},
	}}, nil
}

func (s fakeService) Follow(_ context.Context, id string, _ int, each func([]string) error) error {
	return each(s.logs[id])
}

func (s fakeService) Asked(context.Context, int) ([]view.QuestionView, error) {
	red, q := "Red", asked("q-old", "r-old")
	q.State, q.Answer, q.AnsweredBy = "answered", &red, "the page"
	return []view.QuestionView{q}, nil
}

func (s fakeService) Look(context.Context) view.Away {
	s.looks++
	return view.Away{Done: s.ended}
}

func (s fakeService) Diff(_ context.Context, id string, _ bool) (string, error) {
	return s.diffs[id], s.refuse
}

// fakeActions notes what is done.
type fakeActions struct {
	done   []string
	looks  int // how often it was said that the person looks
	ended  int // the runs that have ended while they did not
	refuse error
}

func (f *fakeActions) did(what ...string) (string, error) {
	f.done = append(f.done, strings.Join(what, " "))
	return strings.Join(what, " "), f.refuse
}

func (f *fakeActions) Answer(_ context.Context, id string, a service.Answer) (k service.Kept, err error) {
	what, text := "answer", ""
	if a.Change {
		what = "change"
	}
	if a.Chosen != nil {
		text = *a.Chosen
	}
	k.Note, err = f.did(what, id, text)
	return k, err
}

func (f *fakeActions) Say(_ context.Context, id, text, _ string) (string, error) {
	return f.did("say", id, text)
}

func (f *fakeActions) Start(_ context.Context, s service.Start) (string, bool, error) {
	_, err := f.did("start", s.Prompt, "in", s.Cwd, "as", s.Name)
	return "r-new", err == nil, err
}

func (f *fakeActions) Resume(_ context.Context, id string) (string, error) {
	return f.did("resume", id)
}

func (f *fakeActions) Retry(_ context.Context, id string) (string, error) { return f.did("retry", id) }

func (f *fakeActions) Prune(_ context.Context, id string) (string, error) { return f.did("prune", id) }

func (f *fakeActions) Open(_ context.Context, folder string) error {
	_, err := f.did("open", folder)
	return err
}

func (f *fakeActions) Merge(_ context.Context, run, agent string) (string, error) {
	return f.did("merge", run, agent)
}

func (f *fakeActions) Drop(_ context.Context, run, agent string) (string, error) {
	return f.did("drop", run, agent)
}

func (f *fakeActions) Again(_ context.Context, id string, a service.Answer, sure bool) (service.Begun, error) {
	_, err := f.did(map[bool]string{true: "again", false: "look again"}[sure], id, *a.Typed)
	return service.Begun{Run: "r-new", Caution: "A new run continues from " + id + "."}, err
}

func (f *fakeActions) Compare(_ context.Context, run, other string) (both [2]service.Compared, err error) {
	_, err = f.did("compare", run, other)
	both[0].Run, both[1].Run = run, other
	return both, err
}

func (f *fakeActions) Report(context.Context, string) (r view.RunReport, err error) { return r, err }

func (f *fakeActions) Meanwhile(context.Context) (m view.Meanwhile, err error) {
	_, err = f.did("meanwhile")
	m.Spent = 3
	return m, err
}

func (f *fakeActions) Told(_ context.Context, until time.Time) error {
	_, err := f.did("told")
	return err
}

func (f *fakeActions) Keep(_ context.Context, run string, sure bool) (string, error) {
	_, err := f.did(map[bool]string{true: "keep", false: "look keep"}[sure], run)
	return map[bool]string{true: "Taken over from ", false: "Would be taken over from "}[sure] + run, err
}

func run(id string, status supervisor.Status, agents ...view.AgentView) view.RunView {
	root := view.AgentView{ID: "a-" + id[2:], Depth: 0, Task: "the task of " + id, Status: status}
	return view.RunView{ID: id, Status: status, Cwd: "/src/" + id, Agents: append([]view.AgentView{root}, agents...)}
}

func asked(id, run string) view.QuestionView {
	q := view.QuestionView{ID: id, Run: run, Agent: "a-" + run[2:], State: supervisor.Open, Kind: "clarification",
		Question: "What about " + id + "?"}
	q.Options = slices.Grow(q.Options, 2)[:2]
	q.Options[0].Label, q.Options[1].Label = "Red", "Green"
	return q
}

func someRuns() view.Overview {
	o := view.Overview{
		Runs: []view.RunView{
			run("r-one", "running", view.AgentView{ID: "a-kid", Parent: "a-one", Depth: 1, Task: "a part", Status: "parked"}),
			run("r-two", "parked"),
		},
		Questions: []view.QuestionView{asked("q-1", "r-one"), asked("q-2", "r-two")},
	}
	o.Runs[0].Since, o.Runs[0].CostUSD = noon.Add(-2*time.Hour), 1.5
	o.Questions[0].AskedAt, o.Questions[1].AskedAt = noon.Add(-3*time.Minute), noon.Add(time.Hour) // a clock was set back
	return o
}

var noon = time.Unix(1_800_000_000, 0)

// testBoard is a board whose time is the test's, and on which all is done at once.
type testBoard struct {
	*Board
	t       *testing.T
	actions *fakeActions
	at      time.Time
	gone    bool

	columns, rows int // of the screen that its person types at
	pressed       int // keys
}

func newTestBoard(t *testing.T) *testBoard {
	t.Helper()
	return newTestBoardWith(t, terminal.Drafts{})
}

func newTestBoardWith(t *testing.T, drafts terminal.Drafts) *testBoard {
	t.Helper()
	d := &testBoard{t: t, actions: &fakeActions{}, at: noon, columns: 80, rows: 24}
	var sent []tea.Msg
	d.Board = New(t.Context(), Config{
		Service: fakeService{fakeActions: d.actions, logs: map[string][]string{"r-two": {"it began", "it continues\x1b[2J"},
			"a-one": {"said by a-one"}},
			diffs: map[string]string{"r-two": "a-two, by its own edits:\n--- x.go\n+++ x.go\n@@ -1 +1 @@\n-old\x1b[2J\n+new\n"}},
		Changes: true,
		Program: "claude-supervise", Folder: "/src/here",
		Question: func(q view.QuestionView) terminal.Question {
			t := terminal.Question{Terms: q.Terms(), ID: q.ID, Header: q.Header, Text: q.Asks(), Context: q.Context,
				Agent: q.Agent, Run: q.Run, Place: q.Cwd, Urgent: q.Urgent, AskedAt: q.AskedAt, Task: q.Task, Of: 1,
				Declinable: view.Declinable(q), Command: q.AnswerCommand}
			if questions.KindOf(q.Kind).Hands {
				t.Instead = questions.Instead
			}
			return t
		},
		About: func(int, view.Details) string { return "all about it" },
		Away: func(a view.Away) string {
			if a.Done == 0 {
				return ""
			}
			return fmt.Sprintf("since 11:00: %d done", a.Done)
		},
		Compared:  func(_ int, both [2]service.Compared) string { return both[0].Run + " beside " + both[1].Run },
		Meanwhile: func(_ int, m view.Meanwhile) string { return fmt.Sprint("since you left: ", m.Spent) },
		Asked:     func(_ int, q view.QuestionView) string { return "all about " + q.ID },
		Home:      func(folder string) string { return folder }, Drafts: drafts,
	}, func(do func() any) {
		if msg := do(); msg != nil {
			sent = append(sent, msg)
		}
		for len(sent) > 0 {
			next := sent[0]
			sent = sent[1:]
			d.Update(next, d.at)
		}
	}, func(msg tea.Msg) { sent = append(sent, msg) })
	d.Update(someRuns(), d.at)
	return d
}

// types presses keys, each on what the one before has left, once the grace of a form is over.
func (d *testBoard) types(keys ...string) {
	d.t.Helper()
	for _, key := range keys {
		d.ready()
		d.press(key)
		d.screen(d.columns, d.rows)
	}
}

// ready lets the grace of a form go by.
func (d *testBoard) ready() {
	d.at = d.at.Add(time.Second)
	d.Update(terminal.Tick{}, d.at)
}

func (d *testBoard) press(key string) {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp,
		"down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	msg := tea.KeyPressMsg{Code: codes[key]}
	if msg.Code == 0 {
		r := []rune(key)[0]
		msg = tea.KeyPressMsg{Code: r, Text: string(r)}
	}
	d.pressed++
	d.gone = !d.Update(msg, d.at)
}

func (d *testBoard) screen(columns, rows int) string {
	d.t.Helper()
	drawn := d.Rows(columns, rows, d.at)
	if len(drawn) != rows {
		d.t.Errorf("%d rows are drawn on %d", len(drawn), rows)
	}
	for _, row := range drawn {
		if width := ansi.StringWidth(row); width > columns {
			d.t.Errorf("%d columns on %d: %q", width, columns, row)
		}
		if plain := ansi.Strip(row); strings.ContainsAny(plain, "\x1b\n\r\t\a") {
			d.t.Errorf("%q can drive the terminal", plain)
		}
	}
	return strings.Join(drawn, "\n")
}

func (d *testBoard) shows(texts ...string) {
	d.t.Helper()
	screen := ansi.Strip(d.screen(80, 24))
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("it does not show %q:\n%s", text, screen)
		}
	}
}

func (d *testBoard) did(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.actions.done, want) {
		d.t.Errorf("it did %q, not %q", d.actions.done, want)
	}
	d.actions.done = nil
}
