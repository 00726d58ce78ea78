package terminal

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"claude-supervise/procs/pty"
)

// A faulty picture has a bug that a key brings out.
type faulty struct{ drawn chan struct{} }

func (f *faulty) Update(msg tea.Msg, _ time.Time) bool {
	if _, is := msg.(tea.KeyPressMsg); is {
		panic(errors.New("a bug"))
	}
	return true
}

func (f *faulty) Rows(int, int, time.Time) []string {
	select {
	case f.drawn <- struct{}{}:
	default:
	}
	return []string{"a picture"}
}

func (f *faulty) Stands(time.Time) time.Duration { return time.Hour }

// A bug of whoever draws is told on a terminal that is as it was before.
func TestAFullScreenGivesTheTerminalBackOnAPanic(t *testing.T) {
	person, own, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = person.Close(), own.Close() }()
	before, err := unix.IoctlGetTermios(int(own.Fd()), getMode)
	if err != nil {
		t.Fatal(err)
	}
	screen := NewFullScreen(own, own, func(string) string { return "xterm" })
	picture := &faulty{drawn: make(chan struct{}, 1)}
	bug := make(chan any, 1)
	go func() {
		defer func() { bug <- recover() }()
		_ = screen.Run(t.Context(), picture)
	}()
	<-picture.drawn
	if _, err := person.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if got := <-bug; got == nil {
		t.Error("the bug is hidden")
	}
	after, err := unix.IoctlGetTermios(int(own.Fd()), getMode)
	if err != nil || *after != *before {
		t.Errorf("the terminal's modes were %v and are %v, %v", before, after, err)
	}
	_ = own.Close()
	if seen := readAll(person); !strings.HasSuffix(seen, leaveScreen) ||
		!strings.HasPrefix(seen, ansi.SetModeAltScreenSaveCursor) {
		t.Errorf("it was written %q", seen)
	}
}

// readAll returns what is left to read on a terminal that nobody writes to any more.
func readAll(tty *os.File) string {
	var all []byte
	buffer := make([]byte, 4096)
	for {
		n, err := tty.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			return string(all)
		}
	}
}
