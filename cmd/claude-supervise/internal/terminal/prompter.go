package terminal

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// A Prompter asks the open questions of a run on a terminal, one at a time, oldest first. Without a terminal, or as a background
// job, it shows each question once with the command that answers it.
//
// On an able terminal (see Printer) a question is a form that is drawn in place: options are chosen with the arrow keys, found by
// typing, or taken by the key that stands before them, and own words are written in a field of many lines; ? says what else.
// While a form is open single keys are read; on every way out, Ctrl-Z too, the terminal is as it was before.
//
// Elsewhere (TERM=dumb, --plain), and with ACCESSIBLE set to anything, as screen readers need it, the prompt is a line, in the
// terminal's own line mode: nothing but lines is read, and no mode is changed. At that prompt a person types an answer as Choose takes it, over several lines with a backslash at the end or between """.
// "<" goes back to the question before in the same group (as does "b" where it is no option), "-" skips an optional one, "?"
// helps, an empty line shows the question again. Ctrl-D ends asking until Enter is pressed. Lines that are pasted together are
// one answer; lines typed before a prompt is shown are taken one by one.
type Prompter struct {
	in     *os.File
	out    *Printer
	submit Submit
	dir    string

	mu     sync.Mutex
	open   []Question
	gone   map[string]string
	redraw bool
	wake   func() // of the Run that is under way
}

// NewPrompter returns a Prompter that reads in and shows by p. in stays open, and is the caller's; it must not be read by
// others while Run runs. Paths in answers are looked up relative to the working directory; see In.
func NewPrompter(in *os.File, p *Printer, submit Submit) *Prompter {
	return &Prompter{in: in, out: p, submit: submit, gone: map[string]string{}}
}

// In sets the folder that paths in answers are relative to, where a question names none of its own. It is called before Run.
func (p *Prompter) In(dir string) { p.dir = dir }

// Set gives the full list of open questions, oldest first. A question that is no longer in it is withdrawn, while it is asked
// too; call Gone before, to say why. Set does not block.
func (p *Prompter) Set(open []Question) {
	p.change(func() { p.open = slices.Clone(open) })
}

// Gone withdraws a question and says why, as a sentence without the question's id: "answered on the desk: PostgreSQL". It is
// shown if the person has seen the question. Gone does not block.
func (p *Prompter) Gone(id, why string) {
	p.change(func() {
		p.open = slices.DeleteFunc(slices.Clone(p.open), func(q Question) bool { return q.ID == id })
		p.gone[id] = why
	})
}

// Redraw shows the open prompt again, and looks whether the program may use the terminal. Call it on SIGCONT.
func (p *Prompter) Redraw() {
	p.change(func() { p.redraw = true })
}

func (p *Prompter) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	if p.wake != nil {
		p.wake()
	}
}

// backgroundLook is how often a background job looks whether it has become the foreground one, should no SIGCONT tell.
const backgroundLook = time.Minute

// Run asks until ctx ends, and then says how a question that stays open is answered. It needs no byte of input to end, and
// leaves the terminal as it was. One Run at a time. It fails only if the terminal cannot be waited for.
func (p *Prompter) Run(ctx context.Context) (err error) {
	defer func() {
		if bug := recover(); bug != nil { // a run is not lost because a question cannot be drawn
			err = fmt.Errorf("asking failed, which is a bug: %v", bug)
		}
	}()
	l, err := newLines(p.in)
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.wake)()
	p.attach(l.wake)
	defer p.attach(nil)

	terminal := IsTerminal(p.in) && p.out.err.terminal != nil
	a := newAsking(p.out, p.submit, p.dir, p.out.forms())
	seat := newSeat(l, p.out)
	a.rest = seat.leave
	defer seat.leave()
	defer a.pause()
	ahead := false
	for ctx.Err() == nil {
		open, gone, redraw := p.changes()
		if a.update(open, gone) {
			seat.discard() // what was typed was meant for the question that is gone
		}
		listening := terminal && !a.deaf && l.foreground()
		switch {
		case !listening:
			a.pause()
		case redraw && a.current != nil && a.form == nil:
			l.discard() // so that what is shown is what was typed: nothing
			a.ask(*a.current, a.earlier)
		}
		// What stands in the terminal before a question is shown was typed ahead, line by line; what comes later at once is a paste.
		fresh := a.show(listening)
		ahead = (fresh || ahead) && l.waiting()

		listen, limit := listening && a.listens(), time.Duration(-1)
		switch {
		case terminal && !a.deaf && !listening:
			limit = backgroundLook
			seat.leave()
		case a.form == nil:
			seat.leave()
		default:
			if err := seat.take(); err != nil {
				return err
			}
			if fresh {
				seat.discard()
			}
			a.draw(seat.stopped.Swap(false))
			limit = seat.limit()
		}
		ready, err := l.wait(listen, limit)
		if err != nil {
			return err
		}
		switch {
		case !l.foreground():
		case a.form != nil:
			got, ended, err := seat.read(ready)
			if err != nil {
				return err
			}
			if !seat.obey(got) {
				a.pressed(ctx, got)
			}
			if ended {
				a.hangUp()
			}
		case ready:
			got, err := l.arrived(ctx, !ahead)
			if err != nil {
				return err
			}
			a.typed(ctx, got)
		}
	}
	return nil
}

func (p *Prompter) attach(wake func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wake = wake
}

func (p *Prompter) changes() (open []Question, gone map[string]string, redraw bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone, redraw = maps.Clone(p.gone), p.redraw
	clear(p.gone)
	p.redraw = false
	return p.open, gone, redraw
}
