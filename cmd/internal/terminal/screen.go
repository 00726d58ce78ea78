package terminal

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// A Screen shows one text in place on a terminal: each stands where the one before stood, below what was there already,
// and stays there in the end. It is drawn in one write and only where something has changed. It is not for several
// goroutines at once.
type Screen struct {
	out  *os.File
	size func() (columns, rows int)
	rows []string // what stands there now
	fits [2]int   // the size it was drawn for
}

// NewScreen returns a Screen on out, if that is a terminal on which can be drawn in place: not on TERM=dumb. It is nil
// otherwise.
func NewScreen(out *os.File, getenv func(string) string) *Screen {
	if kind := getenv("TERM"); !IsTerminal(out) || kind == "" || kind == "dumb" {
		return nil
	}
	return &Screen{out: out, size: func() (int, int) {
		columns, rows, err := term.GetSize(int(out.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return 80, 24
		}
		return columns, rows
	}}
}

// Width is that of the terminal.
func (s *Screen) Width() int {
	columns, _ := s.size()
	return columns
}

// Draw shows text instead of the last one. What is too wide is cut, and what is too high too, with the number of rows
// left out.
func (s *Screen) Draw(text string) error {
	return s.draw(strings.Split(strings.TrimRight(Clean(text), "\n"), "\n"))
}

// draw is Draw for rows of our own making, which may be styled; it keeps them.
func (s *Screen) draw(rows []string) error {
	columns, height := s.size()
	// The cursor stands below the last row, and must find the first one again.
	if most := max(height-1, 1); len(rows) > most {
		left := len(rows) - most + 1
		rows = append(rows[:most-1], fmt.Sprintf("(%d more rows than this terminal has)", left))
	}
	for i, row := range rows {
		rows[i] = ansi.Truncate(row, columns, "…")
	}
	if slices.Equal(rows, s.rows) && s.fits == [2]int{columns, height} {
		return nil
	}
	var b strings.Builder
	b.WriteString(s.back(columns, height))
	for _, row := range rows {
		// Erased before, not after: at the right edge the last cell would go, too.
		b.WriteString(ansi.EraseLineRight + row + "\r\n")
	}
	b.WriteString(ansi.EraseScreenBelow)
	s.rows, s.fits = rows, [2]int{columns, height}
	if _, err := s.out.WriteString(b.String()); err != nil {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}

// back is what puts the cursor on the first row. On a terminal that has become narrower the rows may have been broken
// into several: most terminals do that, and on one that does not a few rows of what stands above are lost.
func (s *Screen) back(columns, height int) string {
	up := 0
	for _, row := range s.rows {
		up += max((ansi.StringWidth(row)+columns-1)/columns, 1)
	}
	if up == 0 {
		return ""
	}
	up = min(up, max(height-1, 1))
	back := "\r" + ansi.CursorUp(up)
	if up != len(s.rows) {
		back += ansi.EraseScreenBelow
	}
	return back
}

// wiped erases rows from that of the cursor on, and comes back to it. It clears them one by one: where a whole screen
// is cleared at once, tmux keeps what stood there (its option scroll-on-clear).
func wiped(rows int) string {
	return strings.Repeat(ansi.EraseLineRight+"\r\n", rows) + ansi.EraseLineRight + "\r" + ansi.CursorUp(rows)
}

// erase removes the text. The next one stands in its place.
func (s *Screen) erase() error {
	if len(s.rows) == 0 {
		return nil
	}
	columns, height := s.size()
	back := s.back(columns, height) + wiped(min(len(s.rows), max(height-1, 1)))
	s.rows = nil
	if _, err := s.out.WriteString(back); err != nil {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}

// Forget makes the next text stand below whatever is on the terminal by then. Call it on SIGCONT: others have written
// there.
func (s *Screen) Forget() { s.rows = nil }
