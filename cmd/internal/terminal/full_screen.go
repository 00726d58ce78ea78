package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// A Picture is what a FullScreen shows. All is called by the goroutine of Run.
type Picture interface {
	// Update takes a key, a paste, a Mouse, or what was given to Send. False leaves.
	Update(msg tea.Msg, now time.Time) (stays bool)
	// Rows returns the picture: at most rows rows of at most columns cells each, with no escape sequences but styles.
	Rows(columns, rows int, now time.Time) []string
	// Stands is how long the picture is right though nothing happens.
	Stands(now time.Time) time.Duration
}

// A Mouse is a click of any button, or a turn of the wheel: one step up (-1) or down (1). X and Y count cells from 0.
type Mouse struct{ X, Y, Wheel int }

// A Tick tells a Picture that it stands no longer, as it said, and that no key waits.
type Tick struct{}

// A FullScreen has a whole terminal for one picture, in the terminal's second buffer: when it ends, however it does,
// the terminal is as it was before. It draws when something has happened, and only the rows that have changed. Why it
// is no tea.Program, rawTerminal says.
type FullScreen struct {
	in, out *os.File

	raw *rawTerminal // of the Run that is under way

	mu      sync.Mutex
	pending []tea.Msg
	wake    func()
}

// NewFullScreen returns a FullScreen on the terminal that in and out are; nil if they are none, or one that cannot be
// drawn on.
func NewFullScreen(in, out *os.File, getenv func(string) string) *FullScreen {
	if kind := getenv("TERM"); !IsTerminal(in) || !IsTerminal(out) || kind == "" || kind == "dumb" {
		return nil
	}
	return &FullScreen{in: in, out: out, wake: func() {}}
}

// Send hands a message to the picture. It does not block.
func (f *FullScreen) Send(msg tea.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, msg)
	f.wake()
}

func (f *FullScreen) sent() []tea.Msg {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent := f.pending
	f.pending = nil
	return sent
}

func (f *FullScreen) listen(wake func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wake = wake
}

// Copy puts a text into the clipboard of the terminal, where that allows it. Only a Picture may call it, in Update.
func (f *FullScreen) Copy(text string) {
	_, _ = io.WriteString(f.out, ansi.SetSystemClipboard(text)) // fails where the terminal is gone
}

// lend hands the terminal to another program until that ends. Only a Picture may call it, in Update.
func (f *FullScreen) lend(ctx context.Context, cmd *exec.Cmd) error { return f.raw.lend(ctx, cmd) }

const (
	enterScreen = ansi.SetModeAltScreenSaveCursor + ansi.EraseEntireScreen + ansi.HideCursor +
		ansi.SetModeBracketedPaste + ansi.SetModeMouseNormal + ansi.SetModeMouseExtSgr
	leaveScreen = ansi.ResetModeMouseExtSgr + ansi.ResetModeMouseNormal + ansi.ResetModeBracketedPaste +
		ansi.ShowCursor + ansi.ResetModeAltScreenSaveCursor
)

// Run shows the picture until that leaves, ctx ends or the terminal is gone. One Run at a time.
func (f *FullScreen) Run(ctx context.Context, picture Picture) error {
	l, err := newLines(f.in)
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.wake)()
	f.listen(l.wake)
	defer f.listen(func() {})
	canvas := &canvas{out: f.out}
	raw := &rawTerminal{lines: l, mode: keyMode{fd: l.fd, stops: true}, clear: func(context.Context) { canvas.leave() }}
	raw.keys.mouse = true
	f.raw = raw
	defer func() {
		canvas.leave()
		if l.foreground() {
			l.discard() // it is not for the shell
		}
		raw.leave()
	}()
	for ctx.Err() == nil {
		for _, msg := range f.sent() {
			if !picture.Update(msg, time.Now()) {
				return nil
			}
		}
		if !l.foreground() {
			raw.leave()
			if _, err := l.wait(false, backgroundLook); err != nil {
				return err
			}
			continue
		}
		msgs, err := f.look(raw, canvas, picture)
		if errors.Is(err, errHungUp) || errors.Is(err, syscall.EIO) { // by reading, or first by writing or setting it
			return nil
		} else if err != nil {
			return err
		}
		for _, msg := range msgs {
			if !picture.Update(msg, time.Now()) {
				return nil
			}
		}
	}
	return nil
}

// look draws the picture, and gives what happens then.
func (f *FullScreen) look(raw *rawTerminal, canvas *canvas, picture Picture) ([]tea.Msg, error) {
	if err := raw.take(); err != nil {
		return nil, err
	}
	if raw.stopped.Swap(false) {
		canvas.forget()
	}
	if err := canvas.show(f.size, picture); err != nil {
		return nil, err
	}
	msgs, quiet, err := raw.await(picture.Stands(time.Now()))
	if quiet {
		msgs = append(msgs, Tick{})
	}
	return msgs, err
}

func (f *FullScreen) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// A canvas is what stands on a whole terminal.
type canvas struct {
	out   io.Writer
	taken bool
	rows  []string
	fits  [2]int
}

// show draws the rows of the picture that have changed, in one write.
func (c *canvas) show(size func() (int, int), picture Picture) error {
	columns, height := size()
	var b strings.Builder
	if !c.taken {
		b.WriteString(enterScreen)
	}
	if !c.taken || c.fits != [2]int{columns, height} {
		b.WriteString(ansi.EraseEntireScreen)
		c.rows = make([]string, height)
	}
	c.taken, c.fits = true, [2]int{columns, height}
	rows := picture.Rows(columns, height, time.Now())
	for i := range height {
		row := ""
		if i < len(rows) {
			row = ansi.Truncate(rows[i], columns, "…")
		}
		if row != c.rows[i] {
			b.WriteString(ansi.CursorPosition(1, i+1) + ansi.EraseLineRight + row)
			c.rows[i] = row
		}
	}
	if b.Len() == 0 {
		return nil
	}
	if _, err := io.WriteString(c.out, b.String()); err != nil {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}

// forget makes the next picture stand whole: others have had the terminal.
func (c *canvas) forget() { c.taken = false }

// leave gives the terminal back.
func (c *canvas) leave() {
	if c.taken {
		c.taken = false
		_, _ = io.WriteString(c.out, leaveScreen) // fails where the terminal is gone
	}
}
