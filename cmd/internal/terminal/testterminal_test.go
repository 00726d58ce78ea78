package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/term"

	"claude-supervise/procs/pty"
	"claude-supervise/supervisor/questions"
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

	before *term.State // the terminal's mode before Run
	leave  func()
}

type submitted struct {
	ID, Answer      string
	Change, Decline bool
}

// formsPlease stands for an ACCESSIBLE that is not set.
const formsPlease = "no"

// draftsFolder names, in the environment of a test, where drafts are kept.
const draftsFolder = "DRAFTS"

// sized says, in the environment of a test, how large the terminal is, as in 80x24.
const sized = "SIZE"

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
	if s, has := env[sized]; has {
		var size pty.Winsize
		if _, err := fmt.Sscanf(s, "%dx%d", &size.Cols, &size.Rows); err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(tty, &size); err != nil {
			t.Fatal(err)
		}
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	d := &testTerminal{t: t, keyboard: keyboard, tty: tty, answers: make(chan submitted, 16), refusal: make(chan error, 1),
		more: make(chan struct{}, 1), before: before}
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
	if folder := env[draftsFolder]; folder != "" {
		d.prompter.Keeps(Drafts{Folder: func(string) string { return folder }})
	}
	d.prompter.Reminds(func(_ context.Context, id string) (Reminder, bool) {
		return Reminder{Answer: "Green", Said: "as you said on 3 Nov (r-1)"}, strings.HasPrefix(id, "q-again")
	})
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
	return Question{Terms: questions.Terms{Options: options(labels...)},
		ID: id, Text: "What about " + id + "?", Command: "claude-supervise answer " + id}
}

// group makes the questions one group.
func group(questions ...Question) []Question {
	for i := range questions {
		questions[i].Group, questions[i].Index, questions[i].Of = "g", i, len(questions)
	}
	return questions
}

func options(labels ...string) []Option {
	list := make([]Option, len(labels))
	for i, label := range labels {
		list[i] = Option{Label: label}
	}
	return list
}

func mustBeSafe(t *testing.T, s string) {
	t.Helper()
	if Clean(s) != s {
		t.Fatalf("%q is not safe to show", s)
	}
}
