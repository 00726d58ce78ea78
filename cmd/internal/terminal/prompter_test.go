package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/term"
)

// A testTerminal is a person at a real terminal: types goes to the terminal, and what the terminal shows is waited for.
type testTerminal struct {
	t        *testing.T
	keyboard *os.File // the master side
	tty      *os.File
	printer  *Printer
	prompter *Prompter
	answers  chan submitted
	refusal  chan error // what the next submit returns; empty: nil

	mu    sync.Mutex
	shown bytes.Buffer
	read  int // of shown, by see
	more  chan struct{}

	leave func()
}

type submitted struct {
	ID, Answer      string
	Change, Decline bool
}

// formsPlease stands for an ACCESSIBLE that is not set.
const formsPlease = "no"

// patience is how long a test waits for what has to come. It only bounds a failing test.
const patience = 20 * time.Second

func enterRaw(t *testing.T, env map[string]string, open ...Question) *testTerminal {
	t.Helper()
	return enterRawAt(t, hurried(), env, open...)
}

// enterRawAt is enterRaw by another clock.
func enterRawAt(t *testing.T, now func() time.Time, env map[string]string, open ...Question) *testTerminal {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &testTerminal{t: t, keyboard: keyboard, tty: tty, answers: make(chan submitted, 16), refusal: make(chan error, 1),
		more: make(chan struct{}, 1)}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_, _ = io.Copy(d, keyboard)
	}()
	d.printer = NewPrinter(io.Discard, tty, Look{Getenv: func(key string) string {
		switch {
		case key != "ACCESSIBLE":
			return env[key]
		case env[key] == formsPlease:
			return ""
		}
		return "1" // most of these tests are of the line prompt
	}})
	d.prompter = NewPrompter(tty, d.printer, func(_ context.Context, id string, r Reply) error {
		select {
		case err := <-d.refusal:
			return err
		default:
		}
		d.answers <- submitted{ID: id, Answer: r.Text, Change: r.Change, Decline: r.Decline}
		return nil
	})
	d.prompter.In(t.TempDir())
	d.prompter.now = now
	d.prompter.Set(open)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- d.prompter.Run(ctx) }()
	d.leave = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ran:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Fatal("Run did not end with its context")
		}
	})
	t.Cleanup(func() {
		d.leave()
		mustClose(t, d.printer)
		tty.Close()
		<-watched
		keyboard.Close()
	})
	return d
}

// hurried is a clock by which a second is over whenever somebody looks: no grace is waited for.
func hurried() func() time.Time {
	var looks atomic.Int64
	begun := time.Now()
	return func() time.Time { return begun.Add(time.Duration(looks.Add(1)) * time.Second) }
}

func (d *testTerminal) Write(b []byte) (int, error) {
	d.mu.Lock()
	d.shown.Write(b)
	d.mu.Unlock()
	select {
	case d.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

// sees waits until the terminal shows text after what was seen before, and returns all up to its end.
func (d *testTerminal) sees(text string) string {
	d.t.Helper()
	deadline := time.After(patience)
	for {
		d.mu.Lock()
		rest := d.shown.String()[d.read:]
		if i := strings.Index(rest, text); i >= 0 {
			d.read += i + len(text)
			d.mu.Unlock()
			return rest[:i+len(text)]
		}
		d.mu.Unlock()
		select {
		case <-d.more:
		case <-deadline:
			d.t.Fatalf("the terminal does not show %q; it shows\n%s", text, rest)
		}
	}
}

func (d *testTerminal) everything() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown.String()
}

func (d *testTerminal) types(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keyboard, keys); err != nil {
		d.t.Error(err) // not Fatal: it is called in goroutines too
	}
}

func (d *testTerminal) answered(want submitted) {
	d.t.Helper()
	select {
	case got := <-d.answers:
		if diff := cmp.Diff(want, got); diff != "" {
			d.t.Fatal(diff)
		}
	case <-time.After(patience):
		d.t.Fatalf("no answer came; the terminal shows\n%s", d.everything())
	}
}

const ctrlD = "\x04"

func question(id string, labels ...string) Question {
	return Question{ID: id, Text: "What about " + id + "?", Options: options(labels...),
		Command: "claude-supervise answer " + id}
}

// group makes the questions one group.
func group(questions ...Question) []Question {
	for i := range questions {
		questions[i].Group, questions[i].Index, questions[i].Of = "g", i, len(questions)
	}
	return questions
}

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
	q := Question{ID: "q-1" + evil, Group: "g", Kind: evil, Header: evil, Text: evil, Context: evil,
		Agent: evil, Run: evil,
		Options: []Option{{Label: evil, Description: evil, Preview: evil}},
		Command: evil, Validate: "regex:^\x1b\u202e\x07Z$"}
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
	d.sees(`Not taken: "blue" is none of the options`)
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

func TestOwnWordsOverSeveralLines(t *testing.T) {
	t.Run("with backslashes", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1"))
		d.sees("q-1> ")
		d.types("one\\\n")
		d.sees("... ")
		d.types("two\n")
		d.answered(submitted{ID: "q-1", Answer: "one\ntwo"})
	})
	t.Run("between quotes", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1", "Red", "Green"))
		d.sees("q-1> ")
		d.types("\"\"\"\n")
		d.sees("... ")
		d.types("1\n")
		d.sees("... ")
		d.types("\"\"\"\n")
		d.answered(submitted{ID: "q-1", Answer: "1"})
	})
	t.Run("dropped by Ctrl-D", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1"))
		d.sees("q-1> ")
		d.types("one\\\n")
		d.sees("... ")
		d.types(ctrlD)
		d.sees("Dropped; nothing was sent.")
		d.sees("q-1> ")
		d.types("two\n")
		d.answered(submitted{ID: "q-1", Answer: "two"})
	})
}

func TestAPasteOfManyLinesIsOneAnswer(t *testing.T) {
	d := enterRaw(t, nil, group(question("q-1"), question("q-2", "Red", "Green"))...)
	d.sees("q-1> ")
	d.types("one\n\n2\nfour\nthe last line has no end")
	d.sees("4 lines came together")
	d.sees("... ")
	d.types("\n")
	d.sees("... ")
	d.types("\n")
	d.answered(submitted{ID: "q-1", Answer: "one\n\n2\nfour\nthe last line has no end"})
	d.sees("q-2> ")
	d.types("1\n")
	d.answered(submitted{ID: "q-2", Answer: "Red"})
}

func TestABigPasteArrivesWhole(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	text := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 100)+"\n", 500), "\n")
	go d.types(text + "\n")
	d.sees("lines came together")
	d.sees("... ")
	d.types("\n")
	d.answered(submitted{ID: "q-1", Answer: text})
}

func TestAPasteThatIsTooBigIsDroppedWhole(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	go d.types(strings.Repeat(strings.Repeat("x", 100)+"\n", maxText/100+2000))
	d.sees("longer than this terminal can take")
	d.sees("q-1> ")
	d.types("short\n")
	d.answered(submitted{ID: "q-1", Answer: "short"})
}

func TestLinesTypedAheadAnswerNothing(t *testing.T) {
	d := enterRaw(t, nil)
	d.types("1\nRed\nhalf")
	d.sees("half") // the terminal's own echo: the keys are in its buffer
	d.prompter.Set([]Question{question("q-1", "Red", "Green"), question("q-2")})
	d.sees("q-1> ")
	d.types("2\n")
	d.answered(submitted{ID: "q-1", Answer: "Green"})
	d.sees("q-2> ")
	d.types("two\n")
	d.answered(submitted{ID: "q-2", Answer: "two"})
}

func TestALineThatTheKernelCutIsNotSent(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	go d.types(strings.Repeat("x", 6000) + "\n")
	d.sees("longer than this terminal can take")
	d.sees("q-1> ")
	d.types("short\n")
	d.answered(submitted{ID: "q-1", Answer: "short"})
}

func TestCtrlDEndsAskingUntilEnter(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"), question("q-2"))
	d.sees("q-1> ")
	d.types(ctrlD)
	d.sees("[q-1] stays open. Answer it with: claude-supervise answer q-1")
	d.sees("[q-2] stays open. Answer it with: claude-supervise answer q-2")
	d.sees("until you press Enter.")
	d.prompter.Set([]Question{question("q-1"), question("q-2"), question("q-3")})
	d.sees("From another terminal: claude-supervise answer q-3")
	d.types("\n")
	d.sees("q-1> ")
	d.types("yes\n")
	d.answered(submitted{ID: "q-1", Answer: "yes"})
}

func TestATerminalThatHangsUpIsNotReadAgain(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	d.types(ctrlD)
	d.sees("until you press Enter.")
	d.types(ctrlD)
	d.sees("Nothing is read here any more.")
	d.prompter.Set([]Question{question("q-1"), question("q-2")})
	d.sees("From another terminal: claude-supervise answer q-2")
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
			d.printer.Progress("going on")
			d.sees("going on")
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
	before, err := term.GetState(int(d.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	d.sees("q-1> ")
	d.types("half")
	d.sees("half")
	d.leave()
	d.sees("\r\n[q-1] stays open. Answer it with: claude-supervise answer q-1")
	after, err := term.GetState(int(d.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal's mode was %+v and is %+v", before, after)
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

// The environment variable that makes the test binary the shell of TestABackgroundJobDoesNotReadTheTerminal, or its
// job.
const role = "TERMINAL_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "shell":
		os.Exit(beShell())
	case "job":
		os.Exit(beJob())
	}
	os.Exit(m.Run())
}

// beShell starts a job in the background of the terminal that it leads, and waits for it.
func beShell() int {
	job := exec.Command(os.Args[0])
	job.Env = append(os.Environ(), role+"=job", "GORACE=atexit_sleep_ms=0")
	job.Stdin, job.Stdout, job.Stderr = os.Stdin, os.Stdout, os.Stderr
	job.ExtraFiles = []*os.File{os.NewFile(3, "end")}
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if job.Run() != nil {
		return 1
	}
	return 0
}

// beJob asks a question until its end pipe is closed.
func beJob() int {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(3, "end"))
		cancel()
	}()
	p := NewPrinter(os.Stdout, os.Stderr, Look{})
	asked := NewPrompter(os.Stdin, p, func(context.Context, string, Reply) error {
		p.Notice("an answer was taken")
		return nil
	})
	asked.Set([]Question{question("q-1", "Red")})
	if asked.Run(ctx) != nil || p.Close(context.Background()) != nil {
		return 1
	}
	return 0
}

func TestABackgroundJobDoesNotReadTheTerminal(t *testing.T) {
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	end, live, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	shell := exec.Command(os.Args[0])
	shell.Env = append(os.Environ(), role+"=shell", "GORACE=atexit_sleep_ms=0")
	shell.Stdin, shell.Stdout, shell.Stderr = tty, tty, tty
	shell.ExtraFiles = []*os.File{end}
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	end.Close()
	d := &testTerminal{t: t, keyboard: keyboard, more: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(d, keyboard) }()

	d.types("1\n") // meant for the shell; a job that reads it is stopped
	d.sees("From another terminal: claude-supervise answer q-1")
	live.Close()
	if err := shell.Wait(); err != nil { // a stopped job would never end
		t.Error(err)
	}
	if got := d.everything(); strings.Contains(got, "q-1> ") || strings.Contains(got, "taken") {
		t.Errorf("a prompt was opened in the background: %s", got)
	}
}
