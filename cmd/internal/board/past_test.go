package board

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Words are looked for in what has ended, too, though it is not in the list without them.
func TestWordsAreLookedForInPastRunsAndAnsweredQuestions(t *testing.T) {
	d := newTestBoard(t)
	d.types("/")
	d.types(letters("old")...)
	d.shows("filter: old", "❯ succeeded                  the task of r-old",
		"  ✓       What about q-old? · was answered by the page: Red")
	d.types("enter", "end")
	d.shows("[question] log report worktrees ── q-old", "all about q-old")
	d.types("enter") // there is no form to open
	d.shows("all about q-old", "Esc back")
	d.types("esc", "esc")
	if screen := d.screen(80, 24); strings.Contains(screen, "r-old") || strings.Contains(screen, "q-old") {
		t.Errorf("what has ended is still there:\n%s", screen)
	}
	d.types("/")
	d.types(letters("red answered")...)
	d.types("enter")
	d.shows("❯ ✓       What about q-old?", " 1/1")
}

func TestTheDiffOfARunHasTheWholeScreen(t *testing.T) {
	d := newTestBoard(t)
	d.config.Colours = true
	d.types("end", "d")
	d.shows("[diff] ── r-two · /src/r-two", "@@ -1 +1 @@", "-old", "+new", "Esc back")
	screen := d.screen(80, 24)
	if !strings.Contains(screen, styles[works].Render("+new")) || !strings.Contains(screen, styles[wrong].Render("-old")) {
		t.Errorf("what is added and removed looks like all else:\n%q", screen)
	}
	if strings.Contains(ansi.Strip(screen), "the task of r-two") {
		t.Errorf("the list is still there:\n%s", screen)
	}
	d.types("esc")
	d.shows("[log] report worktrees ── r-two", "the task of r-two")

	d.actions.refuse = errors.New("its repository is gone")
	d.types("d")
	d.shows("! its repository is gone", "the task of r-two")
	d.did()
}

func TestALongDiffScrolls(t *testing.T) {
	d := newTestBoard(t)
	d.config.Service.(fakeService).diffs["r-two"] = "+first\n" + strings.Repeat("+\tmore  of  it\n", 1000) + "+last"
	d.types("end", "d")
	d.shows("+first", "+    more  of  it", "rows below · PgDn")
	d.types("end")
	d.shows("+last", "rows above · PgUp")
}

// a answers whatever is open, and leaves the cursor on what is listed.
func TestTheCursorIsInTheListAfterAFormOfWhatIsNot(t *testing.T) {
	d := newTestBoard(t)
	d.types("/")
	d.types(letters("q-old")...)
	d.types("enter", "a", "esc")
	d.shows("❯ ✓       What about q-old?")
	d.types("w")
	d.shows("to a-old:")
}

// At the first look, and at the first key after a while, the person is told what has happened since they looked last.
func TestWhoComesBackToTheBoardIsToldWhatHasHappened(t *testing.T) {
	d := newTestBoard(t)
	if d.actions.looks != 1 {
		t.Errorf("a board that begins is looked at %d times", d.actions.looks)
	}
	d.actions.ended = 2
	d.press("down")
	d.Update(someRuns(), d.at) // nobody looks for that
	if d.actions.looks != 1 {
		t.Error("each key, or what happens, is a look")
	}
	d.at = d.at.Add(time.Hour)
	d.press("down")
	d.shows("Since 11:00: 2 done.")
	d.press("down")
	if screen := d.screen(80, 24); strings.Contains(screen, "2 done") {
		t.Errorf("it is still said:\n%s", screen)
	}
	d.at = d.at.Add(watches / 2)
	if d.Update(someRuns(), d.at); d.actions.looks != 3 {
		t.Error("who has pressed a key has not seen what came then")
	}
	d.shows("2 questions")
	if screen := d.screen(80, 24); strings.Contains(screen, "2 done") {
		t.Errorf("what they see come is said:\n%s", screen)
	}
	d.at = d.at.Add(watches)
	if d.Update(someRuns(), d.at); d.actions.looks != 3 {
		t.Error("a board that is left open is a look")
	}
	d.at = d.at.Add(-2 * time.Hour)
	if d.press("down"); d.actions.looks != 4 {
		t.Errorf("after a clock was set back there are %d looks", d.actions.looks)
	}
}
