package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/term"

	"claude-supervise/procs/pty"
	"claude-supervise/supervisor/questions"
)

func TestAPersonAnswersByNumberLetterLabelOrOwnWords(t *testing.T) {
	for typed, want := range map[string]string{"2": "SQLite", "b": "SQLite", "sqlite": "SQLite",
		"Pos": "PostgreSQL", "none of them": "none of them"} {
		t.Run(typed, func(t *testing.T) {
			d := enterRaw(t, nil, question("q-1", "PostgreSQL", "SQLite"))
			d.sees("q-1> ")
			d.types(typed + "\n")
			d.answered(submitted{ID: "q-1", Answer: want})
			d.sees("[q-1] answered: " + want)
		})
	}
}

func TestWordsNearAnOptionAreTakenForNoneAndThePersonIsTold(t *testing.T) {
	const told = `(taken as your own words; option 2 is "SQLite")`
	d := enterRaw(t, nil, question("q-1", "PostgreSQL", "SQLite"))
	d.sees("q-1> ")
	d.types("sqlitte\n")
	d.answered(submitted{ID: "q-1", Answer: "sqlitte"})
	d.sees("answered: sqlitte " + told)
	d = enterAble(t, question("q-1", "PostgreSQL", "SQLite"))
	d.sees(formFoot)
	d.types("sqlitte")
	d.sees(`Option 2 is "SQLite". Enter sends what you have typed as your own words.`)
	d.types("\r")
	d.answered(submitted{ID: "q-1", Answer: "sqlitte"})
	d.sees("Answered: sqlitte " + told)
}

func TestAQuestionShowsAllThatAPersonNeeds(t *testing.T) {
	q := question("q-1", "PostgreSQL", "SQLite")
	q.Header, q.Context, q.Agent, q.Run = "Database", "The tests\nneed one.", "a-x", "r-y"
	q.Index, q.Of, q.Group = 1, 3, "g"
	q.AskedAt = time.Now().Add(-3*time.Minute - 5*time.Second)
	q.Options[0].Description = "a server that has to run beside the tests, so it is the slower one to start"
	q.Options[1].Preview = "db:\n  file: app.db"
	d := enterRaw(t, nil, q)
	got := strings.ReplaceAll(d.sees("q-1> "), "\r\n", "\n")
	want := `
[q-1] Database (2 of 3), asked 3m ago by a-x in r-y
  The tests
  need one.
What about q-1?
  1) PostgreSQL - a server that has to run beside the tests, so it is the slower
     one to start
  2) SQLite
       db:
         file: app.db
Number, label or your own words; ? for help
From another terminal: claude-supervise answer q-1
q-1> `
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsTooLongToBeAskedIsShownWhole(t *testing.T) {
	q := question("q-1")
	q.Context = strings.Repeat("- old\n", maxLines) + "+ the last line"
	for range maxShown {
		q.Options = append(q.Options, Option{Label: "file " + strconv.Itoa(len(q.Options))})
	}
	q.Options = append(q.Options, Option{Label: "the last option"})
	asked, whole := Render(q, 80, time.Now()), Whole(q, 80, time.Now())
	for _, left := range []string{"(1 more lines: claude-supervise show q-1)",
		"(1 more options: claude-supervise show q-1)"} {
		if !strings.Contains(asked, left) || strings.Contains(whole, left) {
			t.Errorf("%q is to be said where something is left out, and only there:\n%s\n%s", left, asked, whole)
		}
	}
	for _, last := range []string{"+ the last line", "the last option"} {
		if strings.Contains(asked, last) || !strings.Contains(whole, last) {
			t.Errorf("%q is to be left out of what is asked, and only there:\n%s\n%s", last, asked, whole)
		}
	}
}

func TestWhatAnAgentWroteCannotDriveTheTerminal(t *testing.T) {
	evil := "\x1b[2J\x1b]0;x\x07\u202etext\x9b1A\b\r"
	q := Question{Terms: questions.Terms{Kind: questions.Name(evil), Options: []Option{{Label: evil, Description: evil, Preview: evil}}, Validate: "regex:^\x1b\u202e\x07Z$"},
		ID: "q-1" + evil, Group: "g", Header: evil, Text: evil, Context: evil, Agent: evil, Run: evil, Command: evil}
	d := enterRaw(t, nil, q)
	d.sees("> ")
	d.types("?\n")
	d.sees("Ctrl-D")
	d.sees("> ")
	d.types("no match\n")
	d.sees("Not taken")
	d.sees("> ")
	d.prompter.Gone(q.ID, evil)
	d.sees("text")
	d.leave()
	mustClose(t, d.printer)
	mustBeSafe(t, strings.ReplaceAll(d.everything(), "\r\n", "\n"))
}

func TestABadAnswerIsRefusedWithTheReasonAndAskedAgain(t *testing.T) {
	q := question("q-1", "Red", "Green")
	q.Validate = "choice"
	d := enterRaw(t, nil, q)
	d.sees("q-1> ")
	d.types("blue\n")
	d.sees(`Not taken: "blue" is not one of the options`)
	d.sees("q-1> ")
	d.types("\n")
	d.sees("What about q-1?")
	d.sees("q-1> ")
	d.types("g\n")
	d.answered(submitted{ID: "q-1", Answer: "Green"})
}

func TestAnAnswerThatLostIsToldAndTheQuestionStays(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.refusal <- errors.New("the disk is full: nothing was saved; try again")
	d.sees("q-1> ")
	d.types("first\n")
	d.sees("Not taken: the disk is full")
	d.sees("q-1> ")
	d.types("second\n")
	d.answered(submitted{ID: "q-1", Answer: "second"})
}

func TestAPersonGoesBackWithinAGroup(t *testing.T) {
	questions := group(question("q-1", "Red", "Green"), question("q-2"), question("q-3"))
	d := enterRaw(t, nil, questions...)
	d.sees("q-1> ")
	d.types("<\n")
	d.sees("no earlier question")
	d.sees("q-1> ")
	d.types("1\n")
	d.answered(submitted{ID: "q-1", Answer: "Red"})
	d.prompter.Set(questions[1:])
	d.sees("< to go back,")
	d.sees("q-2> ")
	d.types("two\n")
	d.answered(submitted{ID: "q-2", Answer: "two"})
	d.prompter.Set(questions[2:])
	d.sees("q-3> ")
	d.types("b\n")
	d.sees(`Your answer was "two". Enter keeps it.`)
	d.sees("q-2> ")
	d.types("<\n")
	d.sees(`Your answer was "Red".`)
	d.sees("q-1> ")
	d.types("b\n") // here b is an option
	d.answered(submitted{ID: "q-1", Answer: "Green", Change: true})
	d.sees("q-3> ")
	d.types("<\n")
	d.sees("q-2> ")
	d.types("\n")
	d.sees("q-3> ")
	d.types("three\n")
	d.answered(submitted{ID: "q-3", Answer: "three"})
}

func TestAnEarlierAnswerCanNoLongerBeChangedOnceTheGroupIsDone(t *testing.T) {
	questions := group(question("q-1"), question("q-2"))
	d := enterRaw(t, nil, questions...)
	d.sees("q-1> ")
	d.types("one\n")
	d.answered(submitted{ID: "q-1", Answer: "one"})
	d.sees("q-2> ")
	d.types("<\n")
	d.sees("Enter keeps it.")
	d.sees("q-1> ")
	d.prompter.Gone("q-2", "answered on the page: two")
	d.sees("[q-1] its answer can no longer be changed")
	d.sees("[q-2] answered on the page: two")
}

func TestAnOptionalQuestionCanBeSkipped(t *testing.T) {
	q := question("q-1", "Red")
	q.Optional = true
	d := enterRaw(t, nil, q)
	d.sees("- to skip,")
	d.sees("q-1> ")
	d.types("-\n")
	d.answered(submitted{ID: "q-1"})
	d.sees("[q-1] answered: skipped")
}

func TestAPromptIsWithdrawnWhileAPersonTypes(t *testing.T) {
	first, second := question("q-1", "PostgreSQL", "SQLite"), question("q-2", "Red", "Green")
	d := enterRaw(t, nil, first, second)
	d.sees("q-1> ")
	d.types("Post")
	d.sees("Post") // the terminal's own echo: the keys are in its buffer
	d.prompter.Gone("q-1", "answered on the page: SQLite")
	d.prompter.Set([]Question{second})
	d.sees("\r\n[q-1] answered on the page: SQLite\r\n")
	d.sees("q-2> ")
	d.types("2\n") // were the half line still there, this would be Post2
	d.answered(submitted{ID: "q-2", Answer: "Green"})
}

func TestAQuestionThatVanishesWithoutAReasonIsWithdrawnToo(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	d.prompter.Set(nil)
	d.sees("[q-1] it is no longer asked")
}

func TestTheNextQuestionFitsAResizedTerminal(t *testing.T) {
	wide := question("q-1")
	wide.Text = strings.Repeat("word ", 30)
	narrow := wide
	narrow.ID = "q-2"
	d := enterRaw(t, nil, wide, narrow)
	widest := func(shown string) (cells int) {
		for line := range strings.SplitSeq(shown, "\r\n") {
			cells = max(cells, len(line))
		}
		return cells
	}
	if w := widest(d.sees("q-1> ")); w > 80 || w < 70 {
		t.Errorf("the widest line of 80 columns has %d cells", w)
	}
	if err := pty.Setsize(d.keyboard, &pty.Winsize{Rows: 24, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	d.types("ok\n")
	d.sees("answered: ok\r\n")
	if w := widest(d.sees("q-2> ")); w > 40 || w < 30 {
		t.Errorf("the widest line of 40 columns has %d cells", w)
	}
}

func TestADumbTerminalGetsNoEscapeSequences(t *testing.T) {
	for name, env := range map[string]map[string]string{"dumb": {"TERM": "dumb"}, "unknown": nil} {
		t.Run(name, func(t *testing.T) {
			d := enterRaw(t, env, question("q-1", "Red"))
			d.printer.Status(Status{Text: "working"})
			d.sees("q-1> ")
			d.types("1\n")
			d.answered(submitted{ID: "q-1", Answer: "Red"})
			d.printer.Progress("continuing")
			d.sees("continuing")
			if got := d.everything(); strings.Contains(got, "\x1b") {
				t.Errorf("it shows %q", got)
			}
		})
	}
}

func TestColoursAreForAbleTerminalsThatWantThem(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"able":     {map[string]string{"TERM": "xterm"}, true},
		"no color": {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := enterRaw(t, test.env, question("q-1"))
			if got := strings.Contains(d.sees("q-1> "), "\x1b[1m"); got != test.want {
				t.Errorf("bold is %v", got)
			}
		})
	}
}

func TestProgressNeverTearsAPrompt(t *testing.T) {
	d := enterRaw(t, map[string]string{"TERM": "xterm"}, question("q-1"))
	d.sees("q-1> ")
	d.printer.Status(Status{Text: "working"})
	d.printer.Progress("step done")
	d.types("yes\n")
	if got := d.sees("answered: yes\r\n"); strings.Contains(got, "step") || strings.Contains(got, "working") {
		t.Errorf("the prompt was torn: %q", got)
	}
	d.sees("step done\r\n")
	d.sees("working")
}

func TestTheOpenPromptIsShownAgainOnRedraw(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	d.prompter.Redraw()
	d.sees("What about q-1?")
	d.sees("q-1> ")
}

func TestRunEndsWithoutAByteAndLeavesTheTerminalAsItWas(t *testing.T) {
	d := enterRaw(t, map[string]string{"TERM": "xterm"}, question("q-1"))
	d.sees("q-1> ")
	d.types("half")
	d.sees("half")
	d.leave()
	d.sees("\r\n[q-1] stays open. Answer it with: claude-supervise answer q-1")
	after, err := term.GetState(int(d.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.before, after) {
		t.Errorf("the terminal's mode was %+v and is %+v", d.before, after)
	}
}

// What wakes Run may come at any moment of its context's end, and nothing wakes it again.
func TestRunEndsWheneverItsContextDoes(t *testing.T) {
	for range 200 {
		t.Run("", func(t *testing.T) {
			d := enterRaw(t, nil, question("q-1"))
			d.sees("q-1> ")
			d.leave()
		})
	}
}

func TestWithoutATerminalEachQuestionIsShownOnceWithItsCommand(t *testing.T) {
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typed.Close()
	if _, err := io.WriteString(typed, "1\n"); err != nil {
		t.Fatal(err)
	}
	d := &testTerminal{t: t, more: make(chan struct{}, 1)}
	p := NewPrinter(io.Discard, d, Look{})
	asked := NewPrompter(in, p, func(context.Context, string, Reply) error {
		t.Error("an answer was taken from a pipe")
		return nil
	})
	asked.Set([]Question{question("q-1", "Red")})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- asked.Run(ctx) }()
	d.sees("From another terminal: claude-supervise answer q-1\n")
	asked.Set([]Question{question("q-1", "Red"), question("q-2")})
	d.sees("From another terminal: claude-supervise answer q-2\n")
	asked.Gone("q-1", "answered on the page: Red")
	d.sees("[q-1] answered on the page: Red\n")
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	mustClose(t, p)
	if n := strings.Count(d.everything(), "answer q-1"); n != 1 {
		t.Errorf("q-1 was shown %d times", n)
	}
}
