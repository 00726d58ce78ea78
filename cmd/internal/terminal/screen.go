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
	gone []string // rows of its own that a lower terminal has put above its first row; a higher one may bring them back
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
// into several: most terminals do that, and on one that does not a few rows of what stands above are lost. One that has
// become lower has put the first rows above its own. Where the text was as high as that, it begins at the top: one that
// brings them back when it is higher again has them erased, and on one that does not the cursor stops at the top.
func (s *Screen) back(columns, height int) string {
	if len(s.rows) == 0 {
		return ""
	}
	up, most := 0, max(height-1, 1)
	for _, row := range s.rows {
		up += brokenInto(row, columns)
	}
	for more := height - s.fits[1]; len(s.gone) > 0; s.gone = s.gone[:len(s.gone)-1] {
		last := brokenInto(s.gone[len(s.gone)-1], columns)
		if more -= last; more < 0 {
			break
		}
		up += last
	}
	out := up - most
	for _, row := range s.rows {
		if out -= brokenInto(row, columns); out < 0 {
			break
		}
		s.gone = append(s.gone, row)
	}
	up = min(up, most)
	back := "\r" + ansi.CursorUp(up)
	if up != len(s.rows) {
		back += wipe
	}
	return back
}

// brokenInto is into how many rows a terminal of such a width breaks one.
func brokenInto(row string, columns int) int {
	return max((ansi.StringWidth(row)+columns-1)/columns, 1)
}

// wipe erases what is on the row of the cursor, which is its first cell, and below, but never a whole screen at once:
// tmux would keep what stood there (its option scroll-on-clear).
const wipe = " " + ansi.EraseScreenBelow + "\r"

// erase removes the text. The next one stands in its place.
func (s *Screen) erase() error {
	if len(s.rows) == 0 {
		return nil
	}
	back := s.back(s.size())
	if !strings.HasSuffix(back, wipe) {
		back += wipe
	}
	s.Forget()
	if _, err := s.out.WriteString(back); err != nil {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}

// Forget makes the next text stand below whatever is on the terminal by then. Call it on SIGCONT: others have written
// there.
func (s *Screen) Forget() { s.rows, s.gone = nil, nil }
