package terminal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Prompter asks the open questions of a run on a terminal, one at a time, oldest first. Without a terminal, or as a
// background job, it shows each question once with the command that answers it.
//
// On an able terminal (see Printer) a question is a form that is drawn in place: options are chosen with the arrow
// keys, found by typing, or selected by the key that stands before them, and own words are written in a field of many
// lines; ? says what else. While a form is open single keys are read; on every way out, Ctrl-Z too, the terminal is as
// it was before.
//
// Elsewhere (TERM=dumb, --plain), and with ACCESSIBLE set to anything, as screen readers need it, the prompt is a line,
// read in the terminal's own line mode. At that prompt a person types an answer as Choose takes it, over several lines
// with a backslash at the end or between """. "<" goes back to the question before in the same group (as does "b" where
// it is no option), or the one that was put off with ">", which asks the next one first; "-" skips an optional one, "?"
// helps, an empty line shows the question again. Ctrl-D ends asking until Enter is pressed. Lines that are pasted
// together are one answer.
//
// While no question is asked, what is typed is a message; see Messages. When Run ends, what was typed and not read is
// dropped.
//
// Whatever was typed before a question was drawn, and within its grace, is dropped: a form says "a moment…" meanwhile,
// and the prompt in lines is printed only after it. See grace.
type Prompter struct {
	in     *os.File
	out    *Printer
	submit Submit
	dir    string
	now    func() time.Time
	getenv func(string) string
	drafts Drafts
	marks  bool
	silent bool
	remind func(context.Context, string) (Reminder, bool) // see Reminds
	beside sync.WaitGroup                                 // what looks for reminders

	mu     sync.Mutex
	open   []Question
	say    func(context.Context, string) // see Messages
	to     Addressee                     // so is this
	hint   string                        // see Hint
	left   func()                        // see Leaves
	gone   map[string]string
	redraw bool

	reminders map[string]Reminder // by the questions for which they were looked for; the zero one: none was found
	wake      func()              // of the Run that is under way
}

// NewPrompter returns a Prompter that reads in and shows by p. in stays open, and is the caller's; it must not be read
// by others while Run runs. Paths in answers are looked up relative to the working directory; see In.
func NewPrompter(in *os.File, p *Printer, submit Submit) *Prompter {
	return &Prompter{in: in, out: p, submit: submit, now: time.Now, getenv: os.Getenv, gone: map[string]string{},
		reminders: map[string]Reminder{}}
}

// In sets the folder that paths in answers are relative to, where a question names none of its own. It is called before
// Run.
func (p *Prompter) In(dir string) { p.dir = dir }

// Keeps has what is typed and not sent kept on disk. It is called before Run.
func (p *Prompter) Keeps(d Drafts) { p.drafts = d }

// Leaves has f called when the person ends asking with Ctrl-D. Without it that ends asking until Enter is pressed. Call
// it before Run; f does not block.
func (p *Prompter) Leaves(f func()) { p.left = f }

// EndsSilently leaves it to the caller to say which questions stay open when Run ends. Call it before Run.
func (p *Prompter) EndsSilently() { p.silent = true }

// Set gives the full list of open questions, oldest first. A question that is no longer in it is withdrawn, while it is
// asked too; call Gone before, to say why. Set does not block.
func (p *Prompter) Set(open []Question) {
	p.change(func() { p.open = slices.Clone(open) })
}

// Gone withdraws a question and says why, as a sentence without the question's id: "answered on the desk: PostgreSQL".
// It is shown if the person has seen the question. Gone does not block.
func (p *Prompter) Gone(id, why string) {
	p.change(func() {
		p.open = slices.DeleteFunc(slices.Clone(p.open), func(q Question) bool { return q.ID == id })
		p.gone[id] = why
	})
}

// Redraw shows the open prompt again, and looks whether the program may use the terminal. A SIGCONT does so, too.
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

// Run asks until ctx ends, and then says how a question that stays open is answered; see EndsSilently. It needs no byte
// of input to end, and leaves the terminal as it was. One Run at a time. It fails only if the terminal cannot be waited
// for.
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
	defer onReturn(func(os.Signal) { p.Redraw() })()

	terminal := IsTerminal(p.in) && p.out.err.terminal != nil
	a := newPromptState(p.out, p.submit, p.dir, p.out.forms())
	a.left, a.drafts, a.marks, a.silent = p.left, p.drafts, p.marks, p.silent
	raw := newRawTerminal(l, p.out)
	raw.mode.stops = a.styles != nil
	a.rest, a.halfLine = raw.leave, raw.halfLine
	a.editor = newEditor(p.getenv, p.drafts, func(ctx context.Context, cmd *exec.Cmd) error {
		p.out.lend(true)
		defer p.out.lend(false)
		p.out.finishLine(ctx)
		return raw.lend(ctx, cmd)
	})
	defer onSignal(func(os.Signal) { raw.interrupted.Store(true); l.wake() }, os.Interrupt)()
	defer func() {
		raw.leave()
		if terminal && l.foreground() {
			l.discard() // it is not for the shell
		}
	}()
	defer a.dropDraft()
	defer func() { a.mark(false) }()
	defer a.quit()
	looking, stop := context.WithCancel(ctx) // for the loop ctx itself: what wakes it may come before a child of it ends
	defer p.beside.Wait()
	defer stop()
	for ctx.Err() == nil {
		open, gone, redraw := p.changes()
		a.to, a.say, a.hint = p.messages()
		if a.update(open, gone) {
			raw.discard() // what was typed was meant for the question that is gone
		}
		listening := terminal && !a.deaf && l.foreground()
		switch {
		case !listening:
			a.pause()
		case redraw && a.current != nil && a.form == nil:
			a.ask(*a.current, a.earlier)
		}
		a.show(listening)
		a.mark(listening && a.waiting())
		p.reminded(looking, a)
		a.reminds(p.found(a.current))
		switch err := p.turn(ctx, a, raw, terminal && !a.deaf, listening); {
		case errors.Is(err, errHungUp):
			a.hangUp()
		case err != nil:
			return err
		}
	}
	open, gone, _ := p.changes() // what ended the asking may be that it is answered elsewhere
	a.update(open, gone)
	a.to, a.say, a.hint = p.messages()
	return nil
}

// turn shows what stands now, waits until something happens, and takes that.
func (p *Prompter) turn(ctx context.Context, a *promptState, raw *rawTerminal, hears, listening bool) error {
	switch {
	case hears && !listening:
		raw.leave()
		a.out.drawBelow(nil, false)
		_, err := raw.lines.wait(false, backgroundLook)
		return err
	case a.writes():
		if err := raw.take(); err != nil {
			return err
		}
		a.drawDraft(raw.stopped.Swap(false))
		keys, _, err := raw.await(-1)
		a.write(ctx, keys)
		return err
	case a.form != nil || a.waits():
		return p.key(ctx, a, raw)
	}
	return p.line(ctx, a, raw, listening && a.listens())
}

// line is turn where lines are read.
func (p *Prompter) line(ctx context.Context, a *promptState, raw *rawTerminal, listens bool) error {
	if !listens {
		raw.leave()
	} else if err := raw.takeLines(); err != nil {
		return err
	} else {
		a.recall()
	}
	ready, err := raw.lines.wait(listens, -1)
	if err != nil || !listens || !raw.lines.foreground() {
		return err
	}
	var got arrival
	if ready {
		if got, err = raw.lines.arrived(ctx); err != nil {
			return err
		}
	}
	switch {
	case got.stop != 0:
		a.cutOff(strings.Join(append(got.lines, a.halfLine()), "\n"))
		if raw.leave(); !raw.suspend(got.stop) {
			p.Redraw()
		}
	case raw.interrupted.Swap(false): // a line that was ended just behind the Ctrl-C is not sent either
		a.cutOff(strings.Join(append(got.lines, a.halfLine()), "\n"))
	case ready:
		raw.leave() // it may take long to be saved, and a Ctrl-Z does not wait for that
		a.typed(ctx, got)
	}
	return nil
}

// key is turn for a question that stands there: a form, or one in lines whose grace is not over.
func (p *Prompter) key(ctx context.Context, a *promptState, raw *rawTerminal) error {
	if err := raw.take(); err != nil {
		return err
	}
	anew := raw.stopped.Swap(false)
	a.drawn = a.drawn || anew
	a.draw(anew)
	if a.drawn {
		p.out.finishLine(ctx) // a terminal that stands still shows nothing yet
		raw.discard()
		a.begin(p.now())
	}
	limit := minute
	if a.waits() && !raw.keys.open() {
		limit = min(limit, a.grace.left(p.now()))
	}
	keys, quiet, err := raw.await(limit)
	if err == nil && a.pressed(ctx, keys, quiet, p.now()) && a.form == nil {
		raw.discard()
		raw.leave()
		a.prompt()
	}
	if a.form != nil {
		a.saveDraft()
	}
	return err
}

func (p *Prompter) attach(wake func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wake = wake
}

func (p *Prompter) messages() (to Addressee, say func(context.Context, string), hint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to, p.say, p.hint
}

func (p *Prompter) changes() (open []Question, gone map[string]string, redraw bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone, redraw = maps.Clone(p.gone), p.redraw
	clear(p.gone)
	p.redraw = false
	return p.open, gone, redraw
}
