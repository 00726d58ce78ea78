package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// talking is a person at the line of a Talk.
type talking struct {
	*testTerminal
	talk  *Talk
	said  chan string
	ended chan error
	leave func()
}

func startTalk(t *testing.T, term string) *talking {
	t.Helper()
	held, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	keyboard := hangsUp(t, held)
	k := &talking{
		testTerminal: &testTerminal{t: t, keyboard: keyboard, tty: tty, more: make(chan struct{}, 1)},
		said:         make(chan string, 16), ended: make(chan error, 1),
	}
	watched := make(chan struct{})
	go func() { defer close(watched); _, _ = io.Copy(k.testTerminal, keyboard) }()
	k.printer = NewPrinter(io.Discard, tty,
		Look{Getenv: func(name string) string { return map[string]string{"TERM": term}[name] }})
	k.talk = NewTalk(tty, k.printer)
	k.talk.Hint("say something")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { k.ended <- k.talk.Run(ctx, func(_ context.Context, text string, _ int) { k.said <- text }) }()
	k.leave = sync.OnceFunc(cancel)
	t.Cleanup(func() {
		cancel()
		mustClose(t, k.printer)
		_ = tty.Close()
		_ = keyboard.Close()
		<-watched
	})
	return k
}

// hangsUp gives a terminal's other end again, as a file that Close takes from whoever reads it: one in blocking mode
// stays open until that read returns.
func hangsUp(t *testing.T, held *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(held.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err := errors.Join(err, held.Close()); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), held.Name())
}

func (k *talking) says(want string) {
	k.t.Helper()
	select {
	case got := <-k.said:
		if got != want {
			k.t.Errorf("it says %q, want %q", got, want)
		}
	case <-time.After(patience):
		k.t.Fatalf("%q is not said; the terminal shows\n%q", want, k.everything())
	}
}

func (k *talking) ends() {
	k.t.Helper()
	if err := <-k.ended; err != nil {
		k.t.Error(err)
	}
}

func TestATalkSendsLinesAndPastesAndLeavesTheTerminalAsItWas(t *testing.T) {
	k := startTalk(t, "xterm-256color")
	k.sees("say something")
	k.sees("> ")
	k.types("one\r")
	k.says("one")
	k.types("twp\x7fo\r")
	k.says("two")
	k.types("\x1b[200~three\nlines\nof a paste\x1b[201~")
	k.types("\r")
	k.says("three\nlines\nof a paste")
	k.types("half")
	k.sees("half")
	k.printer.Notice("meanwhile")
	k.sees("meanwhile")
	k.sees("half") // it is drawn again below
	k.types("\x04 and half\r")
	k.says("half and half")
	k.types("\x04")
	k.ends()
	k.sees(ansi.ShowCursor)
	mustBalance(t, k.everything())
}

func TestATalkEndsWithItsContextAndWithTheTerminal(t *testing.T) {
	for _, term := range []string{"xterm-256color", "dumb"} {
		k := startTalk(t, term)
		k.leave()
		k.ends()
		k = startTalk(t, term)
		if err := k.keyboard.Close(); err != nil {
			t.Fatal(err)
		}
		k.ends()
	}
}

func TestATalkOnADumbTerminalTakesTheKernelsLines(t *testing.T) {
	k := startTalk(t, "dumb")
	k.types("one\n")
	k.says("one")
	k.types("two\nlines\n") // at once: a paste
	k.says("two\nlines")
	k.types(strings.Repeat("x", 5000) + "\n")
	k.sees("nothing was sent")
	k.types("\x04")
	k.ends()
	if shown := k.everything(); strings.Contains(shown, "\x1b") {
		t.Errorf("it shows an escape sequence: %q", shown)
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
	if diff := cmp.Diff(long+"\n", out.String()); diff != "" {
		t.Error(diff)
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
