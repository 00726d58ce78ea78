package terminal

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// escapeTime is how long the rest of an escape sequence may take to arrive. After it, what has come is a key of its
// own: Esc.
const escapeTime = 50 * time.Millisecond

// maxSequence bounds an escape sequence that never ends. The longest that a key sends has some 30 bytes.
const maxSequence = 256

// A keyboard turns the bytes of a terminal in key mode into keys and pastes, which are [tea.KeyPressMsg] and
// [tea.PasteMsg].
//
// A paste is what stands between the marks of bracketed paste; where a terminal has no such mode, an Enter with more
// behind it in one look at the terminal is one too, as nobody types that fast, and its first line must not be sent as
// the answer. Clicks and turns of the wheel, which come only where they were asked for, are Mouse. Whatever else a
// terminal says (focus, replies that nobody asked for) is dropped. The zero value is ready.
type keyboard struct {
	decoder uv.EventDecoder
	pending []byte // the start of a sequence, a rune or the end mark of a paste
	pasting bool
	pasted  []byte
	dropped bool // of the paste: it is longer than maxText
	mouse   bool // the terminal was asked to tell of its mouse
}

// A tooLong stands for a paste that was longer than maxText. Nothing of it is kept.
type tooLong struct{}

// take returns what in completes.
func (k *keyboard) take(in []byte) []tea.Msg {
	k.pending = append(k.pending, in...)
	if paste, ok := k.unmarked(); ok {
		k.pending = nil
		return []tea.Msg{pasteOf(paste)}
	}
	return k.decode(false)
}

// half reports whether something has begun that may still be completed.
func (k *keyboard) half() bool { return len(k.pending) > 0 && !k.pasting }

// open reports whether something has begun whose rest is still to come.
func (k *keyboard) open() bool { return len(k.pending) > 0 || k.pasting }

// settle returns what has begun as it is. Call it when nothing came for escapeTime.
func (k *keyboard) settle() []tea.Msg { return k.decode(true) }

// reset forgets what has begun.
func (k *keyboard) reset() { *k = keyboard{mouse: k.mouse} }

// unmarked recognises a paste without marks.
func (k *keyboard) unmarked() ([]byte, bool) {
	if k.pasting || bytes.IndexByte(k.pending, ansi.ESC) >= 0 {
		return nil, false
	}
	enter := bytes.IndexAny(k.pending, "\r\n")
	if enter < 0 || len(bytes.Trim(k.pending[enter:], "\r\n")) == 0 {
		return nil, false
	}
	return k.pending, true
}

func (k *keyboard) decode(all bool) (got []tea.Msg) {
	for len(k.pending) > 0 {
		if k.pasting {
			paste, ended := k.paste()
			if !ended {
				break
			}
			got = append(got, paste)
			continue
		}
		if !all && !utf8.FullRune(k.pending) {
			break
		}
		n, event := k.decoder.Decode(k.pending)
		if !all && n == len(k.pending) && n < maxSequence && begun(k.pending, event) {
			break
		}
		k.pending = k.pending[max(n, 1):]
		switch event := event.(type) {
		case uv.KeyPressEvent:
			got = append(got, tea.KeyPressMsg(event))
		case uv.MouseClickEvent:
			if k.mouse {
				got = append(got, Mouse{X: event.X, Y: event.Y})
			}
		case uv.MouseWheelEvent:
			if wheel := map[uv.MouseButton]int{uv.MouseWheelUp: -1, uv.MouseWheelDown: 1}[event.Button]; k.mouse && wheel != 0 {
				got = append(got, Mouse{X: event.X, Y: event.Y, Wheel: wheel})
			}
		case uv.PasteStartEvent:
			k.pasting = true
		}
	}
	if len(k.pending) == 0 {
		k.pending = nil // lets go of what a paste has used
	}
	return got
}

// begun reports whether bytes that were decoded as event may be the start of something longer: Esc, Alt with a key that
// opens sequences, and what makes no sense yet.
func begun(pending []byte, event uv.Event) bool {
	_, unknown := event.(uv.UnknownEvent)
	return pending[0] == ansi.ESC &&
		(unknown || len(pending) == 1 || len(pending) == 2 && strings.IndexByte("[OP]X^_", pending[1]) >= 0)
}

// paste moves the pending bytes to the paste, up to its end mark.
func (k *keyboard) paste() (tea.Msg, bool) {
	text, rest, ended := bytes.Cut(k.pending, []byte(ansi.BracketedPasteEnd))
	keep := 0
	if !ended { // the mark may have come in part
		for n := min(len(ansi.BracketedPasteEnd)-1, len(text)); n > 0 && keep == 0; n-- {
			if bytes.HasSuffix(text, []byte(ansi.BracketedPasteEnd[:n])) {
				keep = n
			}
		}
		text, rest = text[:len(text)-keep], text[len(text)-keep:]
	}
	if k.dropped = k.dropped || len(k.pasted)+len(text) > maxText; k.dropped {
		k.pasted = nil
	} else {
		k.pasted = append(k.pasted, text...)
	}
	k.pending = rest
	if !ended {
		return nil, false
	}
	msg := pasteOf(k.pasted)
	if k.dropped {
		msg = tooLong{}
	}
	k.pasting, k.pasted, k.dropped = false, nil, false
	return msg, true
}

func pasteOf(text []byte) tea.Msg {
	if len(text) > maxText {
		return tooLong{}
	}
	return tea.PasteMsg{Content: strings.TrimRight(Clean(string(text)), "\n")}
}
