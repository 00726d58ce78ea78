package board

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/view"
)

// text is typed letter by letter.
func letters(words string) []string { return strings.Split(words, "") }

func TestARunIsStartedOnTheBoard(t *testing.T) {
	d := newTestBoard(t)
	d.types("end", "n")
	d.shows("task:")
	d.types(letters("Fix the tests")...)
	d.types("enter")
	d.shows("in the folder: /src/r-two")
	d.types("enter")
	d.shows("name, or nothing:")
	d.types(letters("tests")...)
	d.types("enter")
	d.did("start Fix the tests in /src/r-two as tests")
	d.shows("r-new is started.")
	o := someRuns()
	o.Runs = append(o.Runs, run("r-new", "running"))
	d.Update(o, d.at)
	d.shows("❯ running                    the task of r-new")
	d.types("n")
	if screen := ansi.Strip(d.screen(80, 24)); strings.Contains(screen, "Fix the tests") {
		t.Errorf("a task that was started is there again:\n%s", screen)
	}
}

// What was typed of a task stays until it is started.
func TestATaskThatWasNotStartedStays(t *testing.T) {
	d := newTestBoard(t)
	d.actions.refuse = errors.New("there is no such folder; nothing was started")
	d.types("n", "a", "b", "esc", "n")
	d.shows("task: ab")
	d.types("enter", "enter", "enter")
	d.did("start ab in /src/r-one as ")
	d.shows("! there is no such folder; nothing was started")
	d.types("n")
	d.shows("task: ab")
	d.types("esc", "n")
	d.press("backspace")
	d.types("esc")
	d.did()
}

func TestOnAnEmptyBoardARunIsStartedWhereThePersonIs(t *testing.T) {
	d := newTestBoard(t)
	d.Update(view.Overview{}, d.at)
	d.types("n", "x", "enter")
	d.shows("in the folder: /src/here")
}

func TestEscShowsAllAgain(t *testing.T) {
	d := newTestBoard(t)
	d.types("/", "q", "-", "2", "enter")
	d.shows("filter: q-2", "What about q-2?")
	if screen := d.screen(80, 24); strings.Contains(screen, "What about q-1?") {
		t.Errorf("the filter shows it:\n%s", screen)
	}
	d.types("esc")
	d.shows("What about q-1?", "What about q-2?")
	d.types("esc") // there is nothing more to leave but the board, which q does
	if d.gone {
		t.Error("Esc leaves the board")
	}
}

func TestWhatIsLeftOutOfTheListIsMarkedAndCounted(t *testing.T) {
	d := newTestBoard(t)
	o := someRuns()
	for _, id := range strings.Fields("q-3 q-4 q-5 q-6 q-7 q-8") {
		o.Questions = append(o.Questions, asked(id, "r-two"))
	}
	d.Update(o, d.at)
	d.types("home")
	d.shows(" 1/12", "❯ ?   3m  What about q-1?", " ▼?")
	for range 7 {
		d.types("down")
	}
	d.shows(" 8/12", " ▲?", "❯ ?       What about q-8?", " ▼parked")
	d.types("end")
	d.shows(" 12/12", " ▲")
	if screen := ansi.Strip(d.screen(140, 40)); strings.ContainsAny(screen, "▲▼") {
		t.Errorf("where all is seen something is marked as left out:\n%s", screen)
	}
}

// The keys that are named at 80x24 are named on a screen half as wide, too.
func TestTheKeysOfAWideScreenAreSeenOnANarrowOne(t *testing.T) {
	d := newTestBoard(t)
	for _, at := range []string{"home", "end"} {
		d.types(at)
		wide, narrow := d.keyRows(80, 24), ansi.Strip(d.screen(40, 20))
		for key := range strings.SplitSeq(strings.Join(wide, " · "), " · ") {
			if !strings.Contains(narrow, key) {
				t.Errorf("at 40x20 %q is not seen:\n%s", key, narrow)
			}
		}
	}
	if rows := d.keyRows(40, 8); len(rows) != 1 {
		t.Errorf("on a low screen the keys take %d rows", len(rows))
	}
}
