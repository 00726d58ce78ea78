package board

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func TestTheBoardShowsQuestionsAndTheTreeOfRuns(t *testing.T) {
	d := newTestBoard(t)
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
	d.shows("filter: part", "2/2", "  running       2h    $1.50  r-one", "❯ parked                       └ a part")
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
	d := newTestBoard(t)
	d.press("a")
	d.press("2") // within the grace
	d.press("enter")
	d.did()
	d.shows("What about q-1?", "a moment…", "1 more wait")
	d.types("2", "enter")
	d.did("answer q-1 Green")
	d.shows("What about q-2?")
	d.press("enter") // meant for the one before
	d.did()
	d.types("esc")
	d.shows("answer q-1 Green", "❯ ?  <1m  What about q-2?", "1 question ·")
}

func TestAQuestionIsPutOffOnTheBoard(t *testing.T) {
	d := newTestBoard(t)
	d.types("a", ">")
	d.shows("What about q-2?")
	d.types(">")
	d.shows("What about q-1?")
}

func TestWhatWasTypedStaysWhenTheFormIsLeft(t *testing.T) {
	d := newTestBoard(t)
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
	d := newTestBoard(t)
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
	d := newTestBoard(t)
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
	d := newTestBoard(t)
	o := someRuns()
	o.Questions = nil
	d.Update(o, d.at)
	d.types("end", "enter")
	d.shows("[log] report worktrees ── r-two", "it continues", "Esc back")
	if screen := d.screen(80, 24); strings.Contains(screen, "the task of r-one") {
		t.Errorf("the list is still there:\n%s", screen)
	}
	d.types("w", "h", "i", "enter")
	d.did("say r-two hi")
	d.types("esc")
	d.shows("the task of r-one")
}

func TestAllKeysAreSaidOnASmallScreen(t *testing.T) {
	d := newTestBoard(t)
	d.types("?")
	seen := ""
	for range 40 {
		seen += d.screen(60, 16)
		d.press("down")
	}
	for _, key := range d.keysHelp() {
		if !strings.Contains(seen, key.keys) {
			t.Errorf("%s is not said", key.keys)
		}
	}
}

func TestAnAnswerThatLostSaysWhoWon(t *testing.T) {
	d := newTestBoard(t)
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

// without returns the overview after a question was answered elsewhere.
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
		d := newTestBoard(t)
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
	d := newTestBoard(t)
	d.types("a", ">", "tab", "m", "y")
	d.Update(without("q-2"), d.at)
	d.types("end", "w") // a run of one agent is one row
	d.shows("to r-two: my")
	d = newTestBoard(t)
	d.types("a", "tab", "m", "y", "enter") // one's own answer is no draft
	d.types("esc")
	d.Update(without("q-1"), d.at)
	d.did("answer q-1 my")
	if screen := d.screen(80, 24); strings.Contains(screen, "What you typed") {
		t.Errorf("what was sent is a draft:\n%s", screen)
	}
}

// What was typed and not sent is said at the end, is there on the next board, and is forgotten once it is sent.
func TestWhatWasTypedIsSaidAtTheEndAndIsThereOnTheNextBoard(t *testing.T) {
	folder := t.TempDir()
	drafts := terminal.Drafts{Folder: func(string) string { return folder }}
	unsent := func(d *testBoard, want ...string) {
		t.Helper()
		if got := d.Unsent(); !slices.Equal(got, want) {
			t.Errorf("not sent are %q, not %q", got, want)
		}
	}
	d := newTestBoardWith(t, drafts)
	d.types("a", "tab", "m", "y", "esc", "esc", "end", "w", "h", "i", "esc")
	unsent(d, "[q-1] Not sent: my", "[r-two] Not sent: hi")

	d = newTestBoardWith(t, drafts)
	d.types("end", "w")
	d.shows("to r-two: hi")
	d.types("esc", "home", "a")
	d.ready()
	d.shows("What about q-1?", "Tab your draft")
	unsent(d) // here nothing was typed
	d.actions.refuse = errors.New("refused")
	d.types("tab", "enter", "esc", "esc", "end", "w", "!", "enter")
	d.did("answer q-1 my", "say r-two hi!")
	unsent(d, "[r-two] Not sent: hi!")
	d.actions.refuse = nil
	d.types("w", "enter", "a", "tab", "enter")
	d.did("say r-two hi!", "answer q-1 my")
	unsent(d)
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%s is left of what was sent", left[0].Name())
	}
}

func TestQuestionsAndRunsLeaveEachOtherRoom(t *testing.T) {
	d := newTestBoard(t)
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
	d.shows("What about q-10?", " ▲running       2h    $1.50  r-one", "16/16",
		"❯ parked                     the task of r-two")
}

func TestWhatIsDoneIsAskedBefore(t *testing.T) {
	d := newTestBoard(t)
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
	d := newTestBoard(t)
	d.types("end")
	d.Update(said{d.subject, false, []string{"one more"}}, d.at)
	d.Update(said{"another", false, []string{"not of this"}}, d.at)
	d.shows("it began", "it continues", "one more")
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
	d := newTestBoard(t)
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
	d := newTestBoard(t)
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
	d.shows("a moment…", "What about q-1?")
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
	d := newTestBoard(t)
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

	d = newTestBoard(t) // who was at none has the board's keys at once
	d.Update(without("q-1"), d.at)
	d.press("?")
	d.shows("any other key: back")
}

// A clock that jumps, either way, changes only times that are shown, and none of them to one before now.
func TestAClockThatJumpsChangesOnlyTimesOnTheBoard(t *testing.T) {
	for _, jump := range []time.Duration{-100 * 24 * time.Hour, 100 * 24 * time.Hour} {
		d := newTestBoard(t)
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
	d := newTestBoard(t)
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
