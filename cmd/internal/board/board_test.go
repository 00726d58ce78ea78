package board

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// fakeSource has nothing but what is given to Update, and logs.
type fakeSource struct{ logs map[string][]string }

func (fakeSource) Watch(context.Context, <-chan struct{}, func(view.Overview) error) error {
	return nil
}
func (fakeSource) Past(context.Context, int, int) ([]view.RunView, error) {
	return []view.RunView{run("r-old", "succeeded")}, nil
}
func (fakeSource) Show(_ context.Context, id string) (view.Details, error) {
	r := run("r-one", "running")
	return view.Details{Agent: id, Run: r, Worktrees: map[string]view.WorktreeView{
		"a-kid": {State: "kept", Merge: []string{"git merge b"}, Drop: []string{"git branch -D b"}},
	}}, nil
}
func (s fakeSource) Follow(_ context.Context, id string, _ int, each func([]string) error) error {
	return each(s.logs[id])
}

// fakeActions notes what is done.
type fakeActions struct {
	done   []string
	refuse error
}

func (f *fakeActions) did(what ...string) (string, error) {
	f.done = append(f.done, strings.Join(what, " "))
	return strings.Join(what, " "), f.refuse
}
func (f *fakeActions) Answer(_ context.Context, id string, r terminal.Reply) (string, error) {
	if r.Change {
		return f.did("change", id, r.Text)
	}
	return f.did("answer", id, r.Text)
}
func (f *fakeActions) Say(_ context.Context, id, text string) (string, error) {
	return f.did("say", id, text)
}
func (f *fakeActions) Stop(_ context.Context, id string) (string, error) { return f.did("stop", id) }
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

// desk is a board whose time is the test's, and on which all is done at once.
type desk struct {
	*Board
	t       *testing.T
	actions *fakeActions
	at      time.Time
	gone    bool
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, actions: &fakeActions{}, at: noon}
	var sent []tea.Msg
	d.Board = New(t.Context(), Config{
		Source: fakeSource{map[string][]string{"r-two": {"it began", "it goes on\x1b[2J"},
			"a-one": {"said by a-one"}}}, Actions: d.actions,
		Question: func(q view.QuestionView) terminal.Question {
			t := terminal.Question{ID: q.ID, Text: q.Question, Kind: string(q.Kind), Run: q.Run, Of: 1}
			for _, o := range q.Options {
				t.Options = append(t.Options, terminal.Option(o))
			}
			return t
		},
		About: func(int, view.Details) string { return "all about it" },
		Home:  func(folder string) string { return folder },
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
func (d *desk) types(keys ...string) {
	d.t.Helper()
	for _, key := range keys {
		d.ready()
		d.press(key)
		d.screen(80, 24) // which a person types at
	}
}

// ready lets the grace of a form go by.
func (d *desk) ready() {
	d.at = d.at.Add(time.Second)
	d.Update(terminal.Tick{}, d.at)
}

func (d *desk) press(key string) {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp,
		"down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	msg := tea.KeyPressMsg{Code: codes[key]}
	if msg.Code == 0 {
		r := []rune(key)[0]
		msg = tea.KeyPressMsg{Code: r, Text: string(r)}
	}
	d.gone = !d.Update(msg, d.at)
}

func (d *desk) screen(columns, rows int) string {
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

func (d *desk) shows(texts ...string) {
	d.t.Helper()
	screen := ansi.Strip(d.screen(80, 24))
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("it does not show %q:\n%s", text, screen)
		}
	}
}

func (d *desk) did(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.actions.done, want) {
		d.t.Errorf("it did %q, not %q", d.actions.done, want)
	}
	d.actions.done = nil
}

func TestTheBoardShowsQuestionsAndTheTreeOfRuns(t *testing.T) {
	d := newDesk(t)
	d.shows("2 questions · 2 runs (1 running) · $1.50", "❯ ?   3m  What about q-1?", "  ?  <1m  What about q-2?",
		"  running       2h    $1.50  r-one", "  running                    └ the task of r-one",
		"  parked                       └ a part", "  parked                     the task of r-two", "/src/r-two",
		"[question] log report worktrees ── q-1", "Enter answer ·")
	d.types("tab")
	d.shows("question [log] report worktrees ── a-one", "said by a-one")
	d.types("end")
	d.shows("❯ parked                     the task of r-two", "[log] report worktrees ── r-two · /src/r-two")
	d.types("tab")
	d.shows("log [report] worktrees ── r-two", "all about it")
	d.types("/", "p", "a", "r", "t", "enter")
	d.shows("only: part", "  running       2h    $1.50  r-one", "❯ parked                       └ a part")
	if screen := d.screen(80, 24); strings.Contains(screen, "r-two") {
		t.Errorf("the filter shows it:\n%s", screen)
	}
	d.types("/", "esc", "e")
	d.shows("succeeded                  the task of r-old")
	d.types("?")
	d.shows("tries again what has failed")
	d.types("x", "q")
	if !d.gone {
		t.Error("q does not leave")
	}
}

func TestQuestionsAreAnsweredOneAfterTheOther(t *testing.T) {
	d := newDesk(t)
	d.press("a")
	d.press("2") // within the grace
	d.press("enter")
	d.did()
	d.shows("What about q-1?", "reading…", "1 more wait")
	d.types("2", "enter")
	d.did("answer q-1 Green")
	d.shows("What about q-2?")
	d.press("enter") // meant for the one before
	d.did()
	d.types("esc")
	d.shows("answer q-1 Green", "❯ ?  <1m  What about q-2?", "1 question ·")
}

func TestAQuestionIsPutOffOnTheBoard(t *testing.T) {
	d := newDesk(t)
	d.types("a", ">")
	d.shows("What about q-2?")
	d.types(">")
	d.shows("What about q-1?")
}

func TestWhatWasTypedStaysWhenTheFormIsLeft(t *testing.T) {
	d := newDesk(t)
	d.types("a", "tab", "m", "y", " ", "o", "w", "n", "esc", "esc")
	d.types("down", "up", "enter")
	d.ready()
	d.shows("What about q-1?", "Tab your draft")
	d.types("tab")
	d.shows("my own")
	d.types("enter")
	d.did("answer q-1 my own")
}

func TestAnAnswerIsChangedOnTheWayBack(t *testing.T) {
	d := newDesk(t)
	d.types("a", "2", "enter")
	d.did("answer q-1 Green")
	d.ready()
	d.shows("What about q-2?", "< back")
	d.types("<")
	d.shows("What about q-1?", `Your answer was "Green". Enter keeps it.`)
	o := someRuns()
	o.Questions, o.Closed = o.Questions[1:], o.Questions[:1] // comes late, and is of the answer that is changed
	d.Update(o, d.at)
	d.types("enter")
	d.did()
	d.shows("What about q-2?")
	d.types("esc", "<")
	d.shows("There is no question to go back to.")
	d.types("a", "1", "enter", "<", "2", "enter")
	d.did("answer q-2 Red", "change q-2 Green")
}

func TestARunThatEndsStaysBeforeThePersonsEyes(t *testing.T) {
	d := newDesk(t)
	o := someRuns()
	over := o.Runs[1]
	over.Status = "succeeded"
	o.Runs, o.Ended, o.Questions = o.Runs[:1], []view.RunView{over}, nil
	d.Update(o, d.at)
	d.shows("the task of r-two: succeeded", "  succeeded                  the task of r-two")
	d.types("e") // those that have ended before, too
	if screen := ansi.Strip(d.screen(80, 24)); strings.Count(screen, "the task of r-two") != 1 ||
		!strings.Contains(screen, "the task of r-old") {
		t.Errorf("not each is there once:\n%s", screen)
	}
	again := someRuns()
	again.Questions = nil
	d.Update(again, d.at) // it was resumed
	if screen := ansi.Strip(d.screen(80, 24)); strings.Count(screen, "the task of r-two") != 1 ||
		!strings.Contains(screen, "parked                     the task of r-two") {
		t.Errorf("it is not there once, as it is:\n%s", screen)
	}
	d.Update(o, d.at)
	d.types("e")
	d.Update(o, d.at)
	d.types("end", "p", "y")
	d.did("prune r-two")
	if screen := d.screen(80, 24); strings.Contains(screen, "the task of r-two") {
		t.Errorf("it is still there:\n%s", screen)
	}
}

func TestALogHasTheWholeScreenWhereThatIsWanted(t *testing.T) {
	d := newDesk(t)
	o := someRuns()
	o.Questions = nil
	d.Update(o, d.at)
	d.types("end", "enter")
	d.shows("[log] report worktrees ── r-two", "it goes on", "Esc back")
	if screen := d.screen(80, 24); strings.Contains(screen, "the task of r-one") {
		t.Errorf("the list is still there:\n%s", screen)
	}
	d.types("w", "h", "i", "enter")
	d.did("say r-two hi")
	d.types("esc")
	d.shows("the task of r-one")
}

func TestAllKeysAreSaidOnASmallScreen(t *testing.T) {
	d := newDesk(t)
	d.types("?")
	seen := ""
	for range 40 {
		seen += d.screen(60, 16)
		d.press("down")
	}
	for _, key := range keysHelp {
		if !strings.Contains(seen, key.keys) {
			t.Errorf("%s is not said", key.keys)
		}
	}
}

func TestAnAnswerThatLostSaysWhoWon(t *testing.T) {
	d := newDesk(t)
	d.actions.refuse = errors.New("q-1 was answered by the page: Red")
	d.types("a", "2", "enter")
	d.shows("Not taken: q-1 was answered by the page: Red.")
	red := "Red"
	o := someRuns()
	closed := o.Questions[0]
	closed.State, closed.Answer, closed.AnsweredBy = "answered", &red, "the page"
	o.Questions, o.Closed = o.Questions[1:], []view.QuestionView{closed}
	d.Update(o, d.at)
	d.shows("q-1 was answered by the page: Red", "1 question ·")
	if d.form != nil {
		t.Error("the form of a question that is answered stays open")
	}
}

// without gives the overview after a question was answered elsewhere.
func without(id string) view.Overview {
	o := someRuns()
	at := slices.IndexFunc(o.Questions, func(q view.QuestionView) bool { return q.ID == id })
	red, closed := "Red", o.Questions[at]
	closed.State, closed.Answer, closed.AnsweredBy = "answered", &red, "the page"
	o.Questions, o.Closed = slices.Delete(o.Questions, at, at+1), []view.QuestionView{closed}
	return o
}

func TestADraftIsKeptAsAMessageWhenOthersAnswer(t *testing.T) {
	for name, left := range map[string][]string{"open": nil, "left": {"esc", "esc"}} {
		d := newDesk(t)
		d.types(append([]string{"a", "tab", "m", "y", " ", "o", "w", "n"}, left...)...)
		d.Update(without("q-1"), d.at)
		d.shows("What you typed is kept: w writes it to a-one. q-1 was answered by the page:")
		d.types("home", "down", "w") // r-one, below q-2
		d.shows("to r-one: my own")
		d.types("esc", "down", "w")
		d.shows("to a-one: my own")
		d.types("enter")
		d.did("say a-one my own")
		d.types("w")
		if screen := d.screen(80, 24); !strings.Contains(screen, "to a-one: \x1b[7m") {
			t.Errorf("%s: it is there again:\n%s", name, screen)
		}
	}
	d := newDesk(t)
	d.types("a", ">", "tab", "m", "y")
	d.Update(without("q-2"), d.at)
	d.types("end", "w") // a run of one agent is one row
	d.shows("to r-two: my")
	d = newDesk(t)
	d.types("a", "tab", "m", "y", "enter") // one's own answer is no draft
	d.types("esc")
	d.Update(without("q-1"), d.at)
	d.did("answer q-1 my")
	if screen := d.screen(80, 24); strings.Contains(screen, "What you typed") {
		t.Errorf("what was sent is a draft:\n%s", screen)
	}
}

func TestQuestionsAndRunsLeaveEachOtherRoom(t *testing.T) {
	d := newDesk(t)
	o := someRuns()
	o.Questions = nil
	for i := range 12 {
		o.Questions = append(o.Questions, asked(fmt.Sprintf("q-%02d", i), "r-one"))
	}
	d.Update(o, d.at)
	d.types("home")
	d.shows("❯ ?       What about q-00?", "── runs ─",
		"  running       2h    $1.50  r-one", "└ the task of r-one", "└ a part")
	for range 11 {
		d.types("down")
	}
	d.shows("❯ ?       What about q-11?", "── runs ─", "  running       2h    $1.50  r-one", "└ a part")
	for range 4 {
		d.types("down")
	}
	d.shows("What about q-10?", "── runs ─", "  running       2h    $1.50  r-one",
		"❯ parked                     the task of r-two")
}

func TestWhatIsDoneIsAskedBefore(t *testing.T) {
	d := newDesk(t)
	d.types("end", "s", "n")
	d.did()
	d.types("s", "y")
	d.did("stop r-two")
	d.types("p", "y", "R", "y", "r", "o")
	d.did("prune r-two", "retry r-two", "resume r-two", "open /src/r-two")
	d.types("w", "h", "i", "enter")
	d.did("say r-two hi")
	d.types("w", "h", "i", "esc")
	d.did()
	d.types("m")
	d.did()
	d.types("up", "tab", "tab", "m")
	d.shows("Merge what is left in the worktree of a-kid?", "git merge b", "y does it · any other key does not")
	d.types("y", "d")
	d.did("merge r-one a-kid")
	d.types("y")
	d.did("drop r-one a-kid")
}

func TestALogGrowsAndIsCleaned(t *testing.T) {
	d := newDesk(t)
	d.types("end")
	d.Update(said{d.subject, false, []string{"one more"}}, d.at)
	d.Update(said{"another", false, []string{"not of this"}}, d.at)
	d.shows("it began", "it goes on", "one more")
	for i := range maxLog + 10 {
		d.Update(said{d.subject, false, []string{fmt.Sprint("text ", i)}}, d.at)
	}
	if len(d.log) != maxLog {
		t.Errorf("%d texts are kept", len(d.log))
	}
	d.types("pgup")
	d.shows("text 2000", "rows below · PgDn")
	if strings.Contains(d.screen(80, 24), "text 2009") {
		t.Error("PgUp does not scroll")
	}
	d.types("pgdown", "pgdown")
	d.shows("text 2009")
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	d := newDesk(t)
	d.Update(unreadable{errors.New("the database is gone")}, d.at)
	d.shows("! the state cannot be read, and is tried again: the database is gone", "q-1")
	d.Update(someRuns(), d.at)
	if strings.Contains(d.screen(80, 24), "gone") {
		t.Error("it is still said")
	}
	away := someRuns()
	away.Problems = []string{"state.db was moved away"}
	d.Update(away, d.at)
	d.shows("! state.db was moved away", "q-1")
}

func TestAClickSelectsAndTheWheelScrolls(t *testing.T) {
	d := newDesk(t)
	d.screen(80, 24)
	d.Update(terminal.Mouse{X: 5, Y: 2}, d.at)
	d.shows("❯ ?  <1m  What about q-2?")
	d.Update(terminal.Mouse{X: 5, Y: 3}, d.at) // the heading
	d.shows("❯ ?  <1m  What about q-2?")
	d.Update(terminal.Mouse{X: 5, Y: 2, Wheel: 1}, d.at)
	d.shows("❯ running       2h    $1.50  r-one")
	d.Update(terminal.Mouse{X: 5, Y: 22}, d.at)
	d.shows("❯ running       2h    $1.50  r-one")
	d.Update(terminal.Mouse{X: 5, Y: 1}, d.at)
	d.Update(terminal.Mouse{X: 5, Y: 1}, d.at)
	d.shows("reading…", "What about q-1?")
	for _, size := range [][2]int{{80, 24}, {140, 40}} { // the form alone, and beside the list
		d.ready()
		rows := strings.Split(ansi.Strip(d.screen(size[0], size[1])), "\n")
		at := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "2) Green") })
		before, _, _ := strings.Cut(rows[at], "2) Green")
		d.Update(terminal.Mouse{X: ansi.StringWidth(before), Y: at}, d.at)
		if screen := ansi.Strip(d.screen(size[0], size[1])); !strings.Contains(screen, "❯ 2) Green") {
			t.Errorf("on %v a click on Green does not select it:\n%s", size, screen)
		}
		d.did()
		d.types("1")
	}
}

// Who is typing an answer when others give theirs goes on for a moment: that is no command.
func TestWhatIsTypedOnAfterOthersAnsweredIsNoCommand(t *testing.T) {
	d := newDesk(t)
	d.types("a", "tab", "m", "y")
	d.Update(without("q-1"), d.at)
	for _, key := range []string{"s", "y", "p", "q"} {
		d.at = d.at.Add(200 * time.Millisecond)
		d.press(key)
		d.Update(terminal.Tick{}, d.at)
	}
	d.shows("What you typed is kept", "Keys count again once you have stopped typing.")
	d.did()
	if d.gone || d.confirm != nil {
		t.Error("it ends, or asks whether something is to be done")
	}
	if left := d.Stands(d.at); left <= 0 || left > time.Second {
		t.Errorf("its keys count after %v", left)
	}
	d.types("home", "down", "s", "y")
	d.did("stop r-one")

	d = newDesk(t) // who was at none has the board's keys at once
	d.Update(without("q-1"), d.at)
	d.press("?")
	d.shows("any other key: back")
}

// A clock that jumps, either way, changes only times that are shown, and none of them to one before now.
func TestAClockThatJumpsChangesOnlyTimesOnTheBoard(t *testing.T) {
	for _, jump := range []time.Duration{-100 * 24 * time.Hour, 100 * 24 * time.Hour} {
		d := newDesk(t)
		d.at = d.at.Add(jump)
		if screen := ansi.Strip(d.screen(140, 40)); strings.Contains(screen, " -") {
			t.Errorf("after %v it shows\n%s", jump, screen)
		}
		d.Update(someRuns(), d.at)
		d.types("a", "2", "enter")
		d.did("answer q-1 Green")
	}
}

// Whatever others wrote stays within the screen and drives nothing, and of a form there is always the question and the
// option that is chosen.
func TestHostileTextsFitEveryScreen(t *testing.T) {
	d := newDesk(t)
	o := someRuns()
	bad := "\x1b[2J\x1b]0;x\a\u202eevil\u2066 שלום 漢字\t" + strings.Repeat("long ", 20_000)
	o.Runs[0].Name, o.Runs[0].Reason, o.Runs[0].Cwd = bad, bad, bad
	o.Runs[0].Agents[1].Task, o.Runs[0].Agents[1].Name = bad, bad
	o.Questions[0].Question, o.Questions[0].RunName = bad, bad
	options := slices.Grow(o.Questions[0].Options[:0], 500)[:500]
	for i := range options {
		options[i].Label, options[i].Description = fmt.Sprint("option ", i), strings.Repeat("implication ", 80)
	}
	o.Questions[0].Options = options
	d.Update(o, d.at)
	for _, size := range [][2]int{{80, 24}, {140, 40}, {60, 16}, {20, 5}} {
		d.screen(size[0], size[1])
	}
	d.types("a")
	d.at = d.at.Add(time.Second)
	d.Update(terminal.Tick{}, d.at)
	for range 5 {
		d.press("down")
	}
	for _, size := range [][2]int{{80, 24}, {140, 40}, {60, 16}} {
		screen := ansi.Strip(d.screen(size[0], size[1]))
		if !strings.Contains(screen, "evil") || !strings.Contains(screen, "❯ 6) option 5") {
			t.Errorf("at %v the question or the chosen option is not seen:\n%s", size, screen)
		}
	}
}

func manyAgents(n int) view.Overview {
	o := someRuns()
	for i := range n {
		o.Runs[0].Agents = append(o.Runs[0].Agents, view.AgentView{ID: fmt.Sprintf("a-%012d", i), Parent: "a-one", Depth: 1,
			Task: "Port one of the many files of this project.", Status: "running", Reason: "at work"})
	}
	return o
}

// From a key to what is to be written: see also the canvas, which writes only the rows that have changed.
func BenchmarkKeyToPaint(b *testing.B) {
	board := New(b.Context(), Config{Source: fakeSource{}, Actions: &fakeActions{},
		Question: func(q view.QuestionView) terminal.Question { return terminal.Question{ID: q.ID, Text: q.Question} },
		About:    func(int, view.Details) string { return "" }, Home: func(f string) string { return f }, Colours: true},
		func(func() any) {}, func(tea.Msg) {})
	now := time.Now()
	board.Update(manyAgents(1000), now)
	keys := []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyPgDown}, {Code: tea.KeyUp}, {Code: tea.KeyEnd},
		{Code: tea.KeyHome}}
	var took []time.Duration
	i := 0
	for b.Loop() {
		began := time.Now()
		board.Update(keys[i%len(keys)], now)
		board.Rows(140, 40, now)
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

// What comes with each change of one of 1,000 agents.
func BenchmarkOverview(b *testing.B) {
	board := New(b.Context(), Config{Source: fakeSource{}, Home: func(f string) string { return f },
		Question: func(q view.QuestionView) terminal.Question { return terminal.Question{ID: q.ID} }},
		func(func() any) {}, func(tea.Msg) {})
	o, now := manyAgents(1000), time.Now()
	for b.Loop() {
		board.Update(o, now)
		board.Rows(140, 40, now)
	}
}
