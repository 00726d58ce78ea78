package terminal

import (
	"io"

	"github.com/charmbracelet/x/ansi"
)

// A panel is a prompt that is drawn in place, as it stands on the terminal now. While it does, the terminal marks what
// is pasted, and its own cursor is hidden: the panel shows one where keys go. It belongs to the Printer's one
// goroutine. Its errors are nobody's: the terminal that it fails on is where they would be told.
type panel struct {
	screen Screen
	open   bool
}

// erase makes way for what is written next: for a moment, or for good if the panel is closed. What others have drawn
// over (anew) is left to them, as are the modes that they have set.
func (p *panel) erase(way, closed, anew bool) {
	if anew {
		p.screen.Forget()
		p.open = false
	}
	if p.open && (way || closed) {
		_ = p.screen.erase()
	}
	if p.open && closed {
		p.open = false
		_, _ = io.WriteString(p.screen.out, ansi.ResetModeBracketedPaste+ansi.ShowCursor)
	}
}

// draw shows the rows; there is none if the panel is closed.
func (p *panel) draw(rows []string) {
	if len(rows) == 0 {
		return
	}
	if !p.open {
		p.open = true
		_, _ = io.WriteString(p.screen.out, ansi.SetModeBracketedPaste+ansi.HideCursor)
	}
	_ = p.screen.draw(rows)
}
