package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/procs/pty"
)

func newPipePrinter(look Look) (p *Printer, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	return NewPrinter(out, err, look), out, err
}

func mustClose(t *testing.T, p *Printer) {
	t.Helper()
	if err := p.Close(context.WithoutCancel(t.Context())); err != nil { // cleanups call it too
		t.Fatal(err)
	}
}

func TestAPrinterInAPipeWritesPlainLines(t *testing.T) {
	p, out, errs := newPipePrinter(Look{Getenv: func(string) string { return "xterm-256color" }})
	long := strings.Repeat("word ", 40) + "end"
	p.Status(Status{Text: "working", Since: time.Now(), Tokens: 12_000})
	p.Progress("\x1b[31mstarted\x1b[0m\u202e\n")
	p.Progress(long)
	if err := p.Result("all \x1b]0;x\x07done\n\n"); err != nil {
		t.Fatal(err)
	}
	mustClose(t, p)
	if want := "started\n" + long + "\n"; errs.String() != want {
		t.Errorf("stderr is %q, want %q", errs, want)
	}
	if want := "all done\n"; out.String() != want {
		t.Errorf("stdout is %q, want %q", out, want)
	}
}

func TestAQuietPrinterShowsNoticesAndResults(t *testing.T) {
	p, out, errs := newPipePrinter(Look{Quiet: true})
	p.Progress("started")
	p.Notice("the budget is nearly spent")
	if err := p.Result("done"); err != nil {
		t.Fatal(err)
	}
	mustClose(t, p)
	if errs.String() != "the budget is nearly spent\n" || out.String() != "done\n" {
		t.Errorf("stderr %q, stdout %q", errs, out)
	}
}

func TestJSONLinesAreSafeToShowAndParseBack(t *testing.T) {
	p, out, _ := newPipePrinter(Look{})
	text := "a\x1b[31m \u009b \u202e \u200b \U000e0041 <b> 数 \x7f\n"
	if err := p.JSON(map[string]string{"text": text}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, p)
	line, more, _ := strings.Cut(out.String(), "\n")
	if more != "" {
		t.Errorf("more than one line: %q", out)
	}
	mustBeSafe(t, line)
	if Clean(line) != line {
		t.Errorf("the line holds what Clean removes: %q", line)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(line), &back); err != nil || back["text"] != text {
		t.Errorf("got back %q, %v; want %q", back["text"], err, text)
	}
	if !strings.Contains(line, "<b> 数") {
		t.Errorf("more than needed is escaped: %s", line)
	}
}

func TestProgressIsHeldBackWhileAPromptIsOpen(t *testing.T) {
	p, _, errs := newPipePrinter(Look{})
	p.Progress("before")
	p.ask("Which?\n", "q-1> ")
	p.Progress("meanwhile")
	p.answered("[q-1] answered: Red\n")
	p.Progress("after")
	mustClose(t, p)
	if want := "before\nWhich?\nq-1> [q-1] answered: Red\nmeanwhile\nafter\n"; errs.String() != want {
		t.Errorf("got %q, want %q", errs, want)
	}
}

func TestProgressHeldBackIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	p, _, errs := newPipePrinter(Look{})
	p.ask("", "q-1> ")
	for range maxHeld + 7 {
		p.Progress("line")
	}
	p.Progress("last")
	p.answered("")
	mustClose(t, p)
	if got := errs.String(); !strings.HasPrefix(got, "q-1> (8 earlier messages") ||
		!strings.HasSuffix(got, "line\nlast\n") {
		t.Errorf("got %q…", got[:60])
	}
	if n := strings.Count(errs.String(), "\n"); n != maxHeld+1 {
		t.Errorf("%d lines were shown", n)
	}
}

// A gate is a writer that stands still until it is opened, as a terminal after Ctrl-S.
type gate struct {
	opened chan struct{}
	bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.opened
	return g.Buffer.Write(b)
}

func TestATerminalThatStandsStillStopsNobody(t *testing.T) {
	stuck := &gate{opened: make(chan struct{})}
	p := NewPrinter(io.Discard, stuck, Look{})
	line := strings.Repeat("x", 999)
	for range 3 * maxWaiting / 1000 {
		p.Progress(line)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("closing a terminal that stands still: %v", err)
	}
	close(stuck.opened)
	mustClose(t, p)
	if stuck.Len() > 2*maxWaiting+1000 || !strings.Contains(stuck.String(), " earlier messages are left out)\n") {
		t.Errorf("%d bytes were kept", stuck.Len())
	}
}

func TestResultsWaitForAReaderThatIsFarBehindAndLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &gate{opened: make(chan struct{})}
		p := NewPrinter(slow, io.Discard, Look{})
		line := strings.Repeat("x", 100_000)
		done := false
		go func() {
			for range 30 {
				if err := p.Result(line); err != nil {
					t.Error(err)
				}
			}
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("3 MB were taken though nobody reads")
		}
		close(slow.opened)
		synctest.Wait()
		if !done || strings.Count(slow.String(), "\n") != 30 {
			t.Errorf("done is %v, %d lines were written", done, strings.Count(slow.String(), "\n"))
		}
		mustClose(t, p)
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrPermission }

func TestABrokenStdoutIsToldAtTheLatestByClose(t *testing.T) {
	p := NewPrinter(broken{}, io.Discard, Look{})
	_ = p.Result("the first may be taken before it is written")
	if err := p.Close(t.Context()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Close returned %v", err)
	}
	if err := p.Result("more"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Result returned %v", err)
	}
}

func TestAClosedPrinterTakesNothing(t *testing.T) {
	p, out, errs := newPipePrinter(Look{})
	mustClose(t, p)
	p.Progress("late")
	if err := p.Result("late"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Result returned %v", err)
	}
	mustClose(t, p)
	if out.Len()+errs.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

// A screen is a writer that another goroutine may look at.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.b.Reset()
	return s.b.String()
}

func TestTheStatusLineIsRedrawnInPlaceAndGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		p := newPrinter(stream{Writer: io.Discard}, stream{Writer: &s}, false, true, false)
		p.Status(Status{Text: "building \x1b[31m" + strings.Repeat("x", 100), Since: time.Now().Add(-65 * time.Second),
			Tokens: 1200, CostUSD: 0.5})
		synctest.Wait()
		for _, line := range strings.Split(s.take(), "\r")[1:] {
			if strings.Contains(line, "\n") || ansi.StringWidth(line) > 79 {
				t.Errorf("the line is %q", line)
			}
		}

		p.Status(Status{Text: "building", Since: time.Now().Add(-65 * time.Second), Tokens: 1200, CostUSD: 0.5})
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "building · 1m 05s · 1.2k tokens · $0.50") {
			t.Errorf("the line is %q", got)
		}
		time.Sleep(time.Second) // of the bubble: the spinner turns
		synctest.Wait()
		if got := s.take(); strings.Count(got, "\r") != int(time.Second/frameTime) || !strings.Contains(got, "1m 06s") {
			t.Errorf("in a second it drew %q", got)
		}

		p.Progress("step done")
		synctest.Wait()
		if got := s.take(); !strings.HasPrefix(got, "\r"+ansi.EraseLineRight+"step done\n\r") {
			t.Errorf("progress was written as %q", got)
		}

		p.ask("Which?\n", "q-1> ")
		synctest.Wait()
		if got := s.take(); got != "\r"+ansi.EraseLineRight+"Which?\nq-1> " {
			t.Errorf("the prompt was written as %q", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("while the prompt was open it drew %q", got)
		}
		p.answered("ok\n")
		p.Status(Status{})
		synctest.Wait()
		if got := s.take(); !strings.HasPrefix(got, "ok\n") {
			t.Errorf("the answer was written as %q", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("without a status it drew %q", got)
		}
		mustClose(t, p)
	})
}

func BenchmarkProgress(b *testing.B) {
	p := NewPrinter(io.Discard, io.Discard, Look{})
	for b.Loop() {
		p.Progress("The agent has finished step 3 of 12.")
	}
	if err := p.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func TestSaidFitsATerminalAndNothingElse(t *testing.T) {
	long := strings.Repeat("word ", 30)
	var out bytes.Buffer
	p := NewPrinter(&out, io.Discard, Look{})
	if err := p.Said(long + "\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	mustClose(t, p)
	if got := out.String(); got != long+"\n" {
		t.Errorf("a pipe shows %q", got)
	}
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = person.Close(); _ = tty.Close() }()
	p = NewPrinter(tty, tty, Look{})
	if err := p.Said(long); err != nil {
		t.Fatal(err)
	}
	p.Bell()
	mustClose(t, p)
	got := make([]byte, 400)
	n, err := io.ReadAtLeast(person, got, len(long))
	if err != nil || !bytes.Contains(got[:n], []byte("word\r\nword")) {
		t.Errorf("a terminal shows %q, %v", got[:n], err)
	}
}
