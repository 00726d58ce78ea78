package terminal

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/sys/unix"
)

// A Talk is a line that a person types on while a Printer shows what goes on above it. On an able terminal the line is
// drawn in place and nothing tears it; elsewhere it is the kernel's own. Enter sends it, lines that are pasted together
// are one text, and Ctrl-D on an empty line leaves; Ctrl-C and Ctrl-Z keep their meaning. On an able terminal Alt-Enter
// begins a new line.
type Talk struct {
	in  *os.File
	out *Printer

	now func() time.Time

	mu    sync.Mutex
	hint  string
	asked int    // how many questions were shown
	wake  func() // of the Run that is under way
}

// NewTalk returns a Talk that reads in, which has to be a terminal, and draws by p. In must not be read by others while
// Run runs.
func NewTalk(in *os.File, p *Printer) *Talk {
	return &Talk{in: in, out: p, now: time.Now, wake: func() {}}
}

// Hint sets what stands above the line on an able terminal, in one row: what can be typed now. It does not block.
func (t *Talk) Hint(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hint = CleanLine(text, 0)
	t.wake()
}

// Asked takes note that a question was shown, and numbers it, from 1. It does not block.
func (t *Talk) Asked() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
	t.wake()
	return t.asked
}

// Unknown stands for the questions that were there when a line was begun, where only the kernel has seen that.
const Unknown = 0

// Run gives what is typed, text by text and none of them empty, with the number of the last question whose grace was
// over when the first key of the text came, or Unknown: a text is no answer to a later one. It does so until the person
// leaves, the terminal is gone, or ctx ends. While it waits for said to return nothing is read. The terminal is left as
// it was. It fails only if that cannot be waited for. One Run at a time.
func (t *Talk) Run(ctx context.Context, said func(ctx context.Context, text string, asked int)) error {
	l, err := newLines(t.in)
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.wake)()
	t.listen(l.wake)
	defer t.listen(func() {})
	if t.out.forms() != nil {
		return t.keys(ctx, l, said)
	}
	return t.lines(ctx, l, said)
}

func (t *Talk) listen(wake func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake = wake
}

// lines reads the kernel's lines.
func (t *Talk) lines(ctx context.Context, l *lines, said func(context.Context, string, int)) error {
	defer onContinue(l.wake)()
	for ctx.Err() == nil {
		ready, err := l.wait(l.foreground(), backgroundLook)
		if err != nil {
			return err
		}
		if !ready || !l.foreground() {
			continue
		}
		got, err := l.arrived(ctx)
		switch {
		case err != nil:
			return err
		case got.tooLong:
			t.out.Notice(tooMuch)
		default:
			t.tell(ctx, strings.Join(got.lines, "\n"), Unknown, said)
		}
		if got.ended {
			return nil
		}
	}
	return nil
}

const tooMuch = "That was longer than this terminal can take, and nothing was sent. Put it into a file and name the " +
	"file."

func (t *Talk) tell(ctx context.Context, text string, asked int, said func(context.Context, string, int)) {
	if text = strings.TrimSpace(text); text != "" {
		said(ctx, text, asked)
	}
}

// keys reads the terminal key by key and draws the line.
func (t *Talk) keys(ctx context.Context, l *lines, said func(context.Context, string, int)) error {
	var continued atomic.Bool
	defer onContinue(func() { continued.Store(true); l.wake() })()
	raw := newRawTerminal(l, t.out)
	defer raw.leave()
	defer t.out.answered("")
	line := newTyping()
	var seen attention
	for ctx.Err() == nil {
		t.mu.Lock()
		asked, hint := t.asked, t.hint // together: what names a question is not to be seen before its grace
		t.mu.Unlock()
		listening, limit := l.foreground(), backgroundLook
		if listening {
			if err := raw.take(); errors.Is(err, unix.EIO) {
				return nil // the terminal hung up
			} else if err != nil {
				return err
			}
			if seen.look(asked) {
				t.out.finishLine(ctx) // a terminal that stands still shows nothing yet
				seen.grace.begin(t.now())
			}
			t.out.draw(t.rows(line, hint, seen.grace.on()), continued.Swap(false))
			limit = raw.limit()
			if seen.grace.on() && !raw.keys.open() {
				limit = min(limit, seen.grace.left(t.now()))
			}
		} else {
			raw.leave()
			t.out.draw(nil, false)
		}
		ready, err := l.wait(listening, limit)
		if err != nil {
			return err
		}
		if !listening || !l.foreground() {
			continue
		}
		msgs, ended, err := raw.read(ready)
		if err != nil || ended {
			return err
		}
		if raw.onKey(msgs) {
			continued.Store(true)
			continue
		}
		seen.typed(ready || raw.keys.open(), t.now())
		for _, msg := range msgs {
			if line.area.Length() == 0 {
				seen.begun = seen.ready
			}
			switch text, end := line.take(msg); end {
			case sent:
				t.out.draw(t.rows(line, hint, seen.grace.on()), false)
				t.tell(ctx, text, seen.begun, said)
			case refused:
				t.out.Notice(tooMuch)
			case left:
				return nil
			}
		}
	}
	return nil
}

// attention is which of the questions that were shown a line can be an answer to.
type attention struct {
	grace grace
	shown int // the last question that was shown
	ready int // the last one whose grace is over
	begun int // ready when the line was begun
}

// look takes note of the questions that were shown. It reports whether a grace begins.
func (a *attention) look(asked int) bool {
	began := asked > a.shown
	a.shown = asked
	return began
}

// typed takes note of a look at the terminal; input says that it brought some, which stays part of the line.
func (a *attention) typed(input bool, now time.Time) {
	switch {
	case a.grace.on() && input:
		a.grace.drop(now)
	case a.grace.on() && a.grace.end(now):
		a.ready = a.shown
	}
}

// rows gives the hint and the line as they are drawn. Within the grace of a question what is typed is no answer to it.
func (t *Talk) rows(line *typing, hint string, reading bool) []string {
	columns, height := t.out.size()
	if reading {
		hint = "reading…"
	}
	var rows []string
	if hint != "" && height > 2 {
		rows = append(rows, t.out.faint(CleanLine(hint, columns-1)))
	}
	return append(rows, line.rows(min(columns, 80)-1, max(height/2, 1))...)
}

// typing is the line that is being typed: bubbles' text area, in which Enter sends.
type typing struct{ area textarea.Model }

func newTyping() *typing {
	a := textarea.New()
	a.Prompt, a.ShowLineNumbers, a.DynamicHeight, a.MinHeight = "> ", false, true, 1
	a.CharLimit, a.MaxContentHeight = maxText, maxText
	a.EndOfBufferCharacter = ' '
	plain := textarea.StyleState{}
	a.SetStyles(textarea.Styles{Focused: plain, Blurred: plain, Cursor: textarea.CursorStyle{Color: lipgloss.NoColor{}}})
	keys := a.KeyMap
	keys.InsertNewline.SetKeys("alt+enter", "ctrl+j")
	keys.Paste.SetEnabled(false) // both would start a program that reads the clipboard
	keys.CopySelection.SetEnabled(false)
	a.KeyMap = keys
	a.Focus()
	return &typing{a}
}

// Said writes text to stdout as Result does, in lines that fit if that is a terminal.
func (p *Printer) Said(text string) error {
	text = strings.TrimRight(Clean(text), "\n")
	if p.out.terminal != nil {
		text = wrapWords(text, p.Columns())
	}
	return p.result(text + "\n")
}

// What a key makes of a line.
const (
	goesOn = iota
	sent
	refused
	left
)

// take gives the line once it is sent, or says what else became of it.
func (t *typing) take(msg tea.Msg) (text string, end int) {
	switch msg := msg.(type) {
	case tooLong:
		return "", refused
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			text = t.area.Value()
			t.area.Reset()
			return text, sent
		case "ctrl+d":
			if t.area.Length() == 0 {
				return "", left
			}
		}
	}
	t.area, _ = t.area.Update(msg) // its commands only make the cursor blink
	return "", goesOn
}

func (t *typing) rows(columns, most int) []string {
	t.area.MaxHeight = most
	t.area.SetWidth(columns)
	return strings.Split(strings.TrimRight(t.area.View(), "\n"), "\n")
}
