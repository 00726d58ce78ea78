package terminal

import (
	"slices"
	"sync"
	"time"

	bubbles "charm.land/bubbles/v2/progress"
	"github.com/charmbracelet/x/ansi"
)

// A Working says on the status line how far something has got, once it takes longer than workingShown. Its methods may
// be called by any goroutine, and never block.
type Working struct {
	printer *Printer
	text    string
	since   time.Time
	timer   *time.Timer

	mu          sync.Mutex
	done, total int64
	shown, over bool
}

// workingShown is how long something takes before anything is shown of it.
const workingShown = time.Second

// Working begins to say that something is done. It shows nothing in a pipe, on a terminal that is not able, with Plain
// and with Quiet.
func (p *Printer) Working(text string) *Working {
	w := &Working{printer: p, text: text, since: time.Now()}
	w.timer = time.AfterFunc(workingShown, func() { w.show(true) })
	return w
}

// Set says how much is done, of how much; a total of 0 is not known.
func (w *Working) Set(done, total int64) {
	w.mu.Lock()
	w.done, w.total = done, total
	w.mu.Unlock()
	w.show(false)
}

// Done takes it from the terminal.
func (w *Working) Done() {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.printer.work(w, Status{})
}

// show shows how far it has got, from the first time on.
func (w *Working) show(first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = w.shown || first
	if !w.shown || w.over {
		return
	}
	s := Status{Text: w.text, Since: w.since}
	if w.total > 0 {
		s.Part = int(100 * min(max(w.done, 0), w.total) / w.total)
		s.Measured = true
	}
	w.printer.work(w, s)
}

// work is what a Working says.
type work struct {
	of *Working
	Status
}

// work has the status line say how far something has got, in the place of what it said before; of several what was said
// last. A zero Status is its end.
func (p *Printer) work(w *Working, s Status) {
	if p.quiet {
		return
	}
	s.Text = CleanLine(s.Text, 200)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.works = slices.DeleteFunc(p.works, func(other work) bool { return other.of == w })
	if s != (Status{}) {
		p.works = append(p.works, work{w, s})
	}
	p.notify()
}

// barWidth is that of a progress bar, in cells.
const barWidth = 24

// bar draws how much is done, in percent.
func bar(percent int) string {
	drawn := bubbles.New(bubbles.WithWidth(barWidth), bubbles.WithFillCharacters('█', '░'))
	return ansi.Strip(drawn.ViewAs(float64(percent) / 100)) // the line has its own colour
}
