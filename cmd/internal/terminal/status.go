package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// frameTime is the time between two pictures of the spinner. Nothing ticks while no status line is shown.
const frameTime = 125 * time.Millisecond

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// A Status is what the status line shows while agents work. The zero value shows no line.
type Status struct {
	Text    string    // what is being done
	Since   time.Time // since when; zero: not shown
	Tokens  int64     // 0: not shown
	CostUSD float64   // 0: not shown

	Measured bool // it is known how much is done
	Part     int  // that, in percent

	Keys string // what can be typed meanwhile; shown where there is room for all of it
}

// Status sets the status line. It is shown on an able terminal only, and not while a question's prompt is open.
func (p *Printer) Status(s Status) {
	if p.quiet {
		return
	}
	s.Text = CleanLine(s.Text, 200)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s != p.status {
		p.status = s
		p.notify()
	}
}

// standing is what the line says now. The lock is held.
func (p *Printer) standing() Status {
	if n := len(p.works); n > 0 {
		return p.works[n-1].Status
	}
	return p.status
}

// A statusLine is the line as it stands on the terminal. The zero value is none.
type statusLine struct {
	frame int
	drawn bool
}

func (l *statusLine) erase(p *Printer, gone bool) {
	if l.drawn && gone {
		_, _ = io.WriteString(p.err, "\r"+ansi.EraseLineRight)
		l.drawn = false
	}
}

func (l *statusLine) draw(p *Printer, s Status) {
	line := frames[l.frame%len(frames)] + " " + s.Line(time.Now(), p.Columns()-3)
	l.frame++
	l.drawn = true
	_, _ = io.WriteString(p.err, "\r"+p.faint(line)+ansi.EraseLineRight)
}

// Line is what the line says, with the keys where there is room for all of it.
func (s Status) Line(now time.Time, width int) string {
	line := s.line(now)
	if whole := line + " · " + s.Keys; s.Keys != "" && ansi.StringWidth(whole) <= width {
		return whole
	}
	return ansi.Truncate(line, width, "…")
}

func (s Status) line(now time.Time) string {
	var parts []string
	if s.Text != "" {
		parts = append(parts, s.Text)
	}
	if s.Measured {
		parts = append(parts, bar(s.Part))
	}
	if !s.Since.IsZero() {
		parts = append(parts, Duration(now.Sub(s.Since)))
	}
	if s.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%s tokens", Tokens(s.Tokens)))
	}
	if s.CostUSD > 0 {
		parts = append(parts, Money(s.CostUSD))
	}
	return strings.Join(parts, " · ")
}

func (p *Printer) bold(s string) string {
	if !p.colours {
		return s
	}
	return ansi.NewStyle().Bold().Styled(s)
}

func (p *Printer) faint(s string) string {
	if !p.colours {
		return s
	}
	return ansi.NewStyle().Faint().Styled(s)
}
