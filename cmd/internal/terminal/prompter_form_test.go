package terminal

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"claude-supervise/procs/pty"
	"claude-supervise/supervisor/questions"
)

// enterAble is a person at a terminal on which questions are forms.
func enterAble(t *testing.T, open ...Question) *testTerminal {
	t.Helper()
	return enterRaw(t, able(), open...)
}

func able() map[string]string {
	return map[string]string{"TERM": "xterm-256color", "ACCESSIBLE": formsPlease}
}

// formFoot ends the picture of a form.
const formFoot = "? help"

func (d *testTerminal) modes() unix.Termios {
	d.t.Helper()
	mode, err := unix.IoctlGetTermios(int(d.tty.Fd()), getMode)
	if err != nil {
		d.t.Fatal(err)
	}
	return *mode
}

func TestAFormAsksAndLeavesTheTerminalAsItWas(t *testing.T) {
	d := enterAble(t)
	before := d.modes()
	d.prompter.Set([]Question{question("q-1", "PostgreSQL", "SQLite")})
	d.sees(formFoot)
	if now := d.modes(); now.Lflag&(unix.ICANON|unix.ECHO) != 0 || now.Lflag&unix.ISIG == 0 {
		t.Errorf("the mode while a form is open is %+v", now)
	}
	d.printer.Progress("a step was done")
	d.printer.Notice("! something is wrong")
	d.sees("! something is wrong\r\n")
	d.sees(formFoot)
	d.types(down + "\r")
	d.answered(submitted{ID: "q-1", Answer: "SQLite"})
	d.sees("[q-1] What about q-1?\r\n  Answered: SQLite\r\n")
	d.sees("a step was done\r\n")
	d.leave()
	if diff := cmp.Diff(before, d.modes()); diff != "" {
		t.Errorf("the terminal is left in another mode:\n%s", diff)
	}
	mustClose(t, d.printer)
	mustBalance(t, d.everything())
}

// mustBalance checks that what a form sets on the terminal is taken back, and that the terminal is asked nothing.
func mustBalance(t *testing.T, shown string) {
	t.Helper()
	for set, reset := range map[string]string{
		ansi.SetModeBracketedPaste: ansi.ResetModeBracketedPaste, ansi.HideCursor: ansi.ShowCursor,
	} {
		if at := strings.LastIndex(shown, set); at < 0 || at > strings.LastIndex(shown, reset) {
			t.Errorf("%q is not taken back", set)
		}
	}
	for at := range shown {
		if shown[at] != ansi.ESC {
			continue
		}
		if end := strings.IndexFunc(shown[at+2:], func(r rune) bool { return r >= '@' }); shown[at+1] != '[' ||
			end < 0 || !strings.ContainsRune("mKJAhl", rune(shown[at+2+end])) {
			t.Errorf("%q is no sequence of ours", shown[at:min(at+12, len(shown))])
		}
	}
}

func TestAFormTellsWhyAnAnswerIsNotTakenAndKeepsIt(t *testing.T) {
	q := question("q-1")
	q.Validate = "integer"
	d := enterAble(t, q)
	d.sees("The answer is a whole number.")
	d.sees(formFoot)
	d.types("80a\r")
	d.sees(`Not taken: "80a" is not a whole number`)
	d.refusal <- errors.New("the disk is full: nothing was saved; try again")
	d.types("\x7f\r")
	d.sees("Not taken: the disk is full")
	d.types("\r")
	d.answered(submitted{ID: "q-1", Answer: "80"})
}

func TestAGroupIsAskedFormByForm(t *testing.T) {
	questions := group(question("q-1", "Red", "Green"), question("q-2"), question("q-3"))
	questions[2].Declinable = true
	d := enterAble(t, append(questions, question("q-9"))...)
	d.sees("question 1 of 3 · 1 more wait")
	d.sees(formFoot)
	d.types("1\r")
	d.answered(submitted{ID: "q-1", Answer: "Red"})
	d.sees("question 2 of 3")
	d.sees(formFoot)
	d.types("two\r")
	d.answered(submitted{ID: "q-2", Answer: "two"})
	d.sees("question 3 of 3")
	d.sees(formFoot)
	d.types("<")
	d.sees(`Your answer was "two".`)
	d.sees("Shift-Tab back · ? help")
	d.types("\x1b[Z")
	d.sees(`Your answer was "Red".`)
	d.sees(formFoot)
	d.types("2\r")
	d.answered(submitted{ID: "q-1", Answer: "Green", Change: true})
	d.sees("question 3 of 3")
	d.sees(formFoot)
	d.types("<")
	d.sees(`Your answer was "two".`)
	d.sees(formFoot)
	d.types("\r") // keeps it
	d.sees("question 3 of 3")
	d.sees(formFoot)
	d.types("!")
	d.sees("Why will there be no answer?")
	d.sees(formFoot)
	d.types("ask them\r")
	d.answered(submitted{ID: "q-3", Answer: "ask them", Decline: true})
	d.sees("Declined: ask them")
}

func TestAQuestionCanBePutOff(t *testing.T) {
	d := enterAble(t, question("q-1", "Red", "Green"), question("q-2", "Red", "Green"))
	d.sees("What about q-1?")
	d.sees("> next · " + formFoot)
	d.types("\tmine") // is kept
	d.types(esc)
	d.sees("Tab your draft · > next · " + formFoot)
	d.types(">")
	d.sees("What about q-2?")
	d.sees("< back · > next · " + formFoot)
	d.types("<")
	d.sees("What about q-1?")
	d.sees("Tab your draft · > next · " + formFoot)
	d.types("\t\r")
	d.answered(submitted{ID: "q-1", Answer: "mine"})
	d.sees("What about q-2?")
	d.sees("Tab own words · " + formFoot) // there is no other
	d.types(">\r")
	d.answered(submitted{ID: "q-2", Answer: ">"})
}

func TestAMessageIsWrittenWhileAQuestionIsOpen(t *testing.T) {
	d := enterAble(t)
	said := make(chan string, 1)
	d.prompter.Messages(Addressee{Run: "r-1"}, func(_ context.Context, text string) { said <- text })
	d.prompter.Set([]Question{question("q-1", "Red", "Green")})
	d.sees(formFoot)
	d.types(esc)
	d.sees("Esc back to the question")
	d.types("1")
	d.sees("> 1")
	d.types(esc)
	d.sees("What about q-1?")
	d.sees(formFoot)
	d.types(esc)
	d.sees("> 1")
	d.types(" more thing\r")
	if got := <-said; got != "1 more thing" {
		t.Errorf("%q was said", got)
	}
	d.sees("What about q-1?")
	d.sees(formFoot)
	d.types("2\r")
	d.answered(submitted{ID: "q-1", Answer: "Green"})
}

func TestAFormIsWithdrawnWhileAPersonTypes(t *testing.T) {
	first, second := question("q-1", "PostgreSQL", "SQLite"), question("q-2", "Red", "Green")
	d := enterAble(t, first, second)
	d.sees("1 more wait")
	d.sees(formFoot)
	d.types("post")
	d.sees("post")
	d.prompter.Gone("q-1", "answered on the page: SQLite")
	d.prompter.Set([]Question{second})
	d.sees("[q-1] What about q-1?\r\n  Answered on the page: SQLite\r\n")
	d.sees("What about q-2?")
	d.sees(formFoot)
	d.types("2\r") // were the filter still there, this would be post2
	d.answered(submitted{ID: "q-2", Answer: "Green"})
}

func TestWhatWasTypedBeforeAFormIsShownAnswersNothing(t *testing.T) {
	d := enterAble(t)
	d.types("2\r2")
	d.sees("2\r\n2") // the terminal's own echo: the keys are in its buffer
	d.prompter.Set([]Question{question("q-1", "Red", "Green")})
	d.sees(formFoot)
	d.types("\r")
	d.answered(submitted{ID: "q-1", Answer: "Red"})
}

func TestKeysThatEndOneFormDoNotAnswerTheNext(t *testing.T) {
	d := enterAble(t, question("q-1", "Red", "Green"), question("q-2", "Red", "Green"))
	d.sees(formFoot)
	d.types("2\r\r") // in one look at the terminal, or the second one is there before the next form is
	d.answered(submitted{ID: "q-1", Answer: "Green"})
	d.sees("What about q-2?")
	d.sees(formFoot)
	d.types("1\r")
	d.answered(submitted{ID: "q-2", Answer: "Red"})
}

func TestCtrlDEndsFormsUntilEnter(t *testing.T) {
	d := enterAble(t, question("q-1"))
	d.sees(formFoot)
	d.types(ctrlD)
	d.sees("[q-1] stays open. Answer it with: claude-supervise answer q-1")
	d.sees("until you press Enter.")
	if mode := d.modes(); mode.Lflag&unix.ICANON == 0 {
		t.Error("no lines can be typed")
	}
	d.types("\n")
	d.sees(formFoot)
	d.types("yes\r")
	d.answered(submitted{ID: "q-1", Answer: "yes"})
}

func TestABigPasteInAFormArrivesWhole(t *testing.T) {
	d := enterAble(t, question("q-1"))
	d.sees(formFoot)
	text := strings.TrimSpace(strings.Repeat(strings.Repeat("x", 100)+"\n", 2000))
	go d.types(paste(strings.ReplaceAll(text, "\n", "\r")))
	d.sees("[paste 1: 2000 lines, ")
	d.types("\r")
	d.answered(submitted{ID: "q-1", Answer: text})
}

func TestAFormFitsAResizedTerminal(t *testing.T) {
	q := question("q-1", "PostgreSQL", "SQLite")
	q.Context = strings.TrimSpace(strings.Repeat("words ", 60))
	d := enterAble(t, q)
	d.sees(formFoot)
	if err := pty.Setsize(d.keyboard, &pty.Winsize{Rows: 10, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	d.prompter.Redraw() // as nobody sends this process a SIGWINCH: the terminal does not control it
	shown := d.sees(formFoot)
	for strings.Count(shown, ansi.EraseLineRight) > 9 { // painted before; a form of 10 rows that never comes fails here
		shown = d.sees(formFoot)
	}
	for row := range strings.SplitSeq(shown, "\r\n") {
		if w := ansi.StringWidth(row); w > 30 {
			t.Errorf("%d cells: %q", w, row)
		}
	}
}

func TestAHangUpEndsAFormAndNothingElse(t *testing.T) {
	d := enterAble(t, question("q-1"))
	d.sees(formFoot)
	if err := d.keyboard.Close(); err != nil {
		t.Fatal(err)
	}
	d.leave() // it would never end, were the terminal still read
}

func TestABugInAFormIsToldAndTheTerminalGivenBack(t *testing.T) {
	d := enterAble(t)
	before := d.modes()
	prompter := NewPrompter(d.tty, d.printer, nil)
	prompter.now = hurried()
	prompter.Set([]Question{question("q-1", "Red")})
	ended := make(chan error, 1)
	d.leave()
	go func() { ended <- prompter.Run(t.Context()) }()
	d.sees(formFoot)
	d.types("1\r") // nobody takes the answer, which is a bug
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "which is a bug") {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it still runs")
	}
	if diff := cmp.Diff(before, d.modes()); diff != "" {
		t.Errorf("the terminal is left in another mode:\n%s", diff)
	}
}

func TestAHostileQuestionInAFormCannotDriveTheTerminal(t *testing.T) {
	evil := "\x1b[2J\x1b]0;x\x07\u202etext\x9b1A\b\r"
	q := Question{Terms: questions.Terms{Kind: questions.Name(evil), Options: []Option{{Label: evil, Description: evil, Preview: evil}}, Validate: "regex:^\x1b\u202e\x07Z$"},
		ID: "q-1" + evil, Group: "g", Header: evil, Text: evil, Context: evil, Agent: evil, Run: evil, Asker: evil, Command: evil, Declinable: true}
	d := enterAble(t, q)
	d.sees(formFoot)
	d.types("?")
	d.sees("Ctrl-D")
	d.types("x")
	d.sees(formFoot)
	d.types(paste("no\r"+evil+"match") + "\r")
	d.sees("Not taken")
	d.prompter.Gone(q.ID, evil)
	d.sees("\r\n  Text")
	d.leave()
	mustClose(t, d.printer)
	mustBalance(t, d.everything())
	mustBeSafe(t, string(bytes.ReplaceAll([]byte(ansi.Strip(d.everything())), []byte("\r"), nil)))
}
