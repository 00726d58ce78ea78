package board

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// A Board is the picture of a terminal.FullScreen. It belongs to one goroutine.
type Board struct {
	ctx    context.Context
	config Config
	start  func(do func() any) // does what takes time, and has its message given to Update; nil is none
	send   func(msg tea.Msg)
	copy   func(text string)
	look   chan struct{} // asks the source to look again

	now    view.Overview
	past   []view.RunView // nil: those that have ended are not shown
	broken error          // the state cannot be read
	known  bool           // it was read once

	list     []entry
	selected string // the id of the entry that the cursor is on
	first    int    // of list, that is shown
	filter   string
	place    layout

	form    *terminal.Form // open
	sending bool           // its reply is on its way
	passed  []string       // the questions that were put off
	line    *typed         // what is typed in the bottom row
	confirm *confirm
	help    bool
	note    string // what became of the last action

	pane     pane
	subject  string // what the pane shows
	scroll   int    // rows from the end of the log, or from the beginning of the rest
	log      []string
	details  *view.Details
	stopRead context.CancelFunc // of the log
}

// A pane is what is shown of the run or agent that the cursor is on.
type pane int

const (
	logPane pane = iota
	aboutPane
	worktreePane
	panes
)

// typed is a line that is being typed, and what it is for.
type typed struct {
	label string
	text  []rune
	live  bool // what is typed is taken as it comes
	take  func(text string)
}

// confirm is what a person is asked before it is done.
type confirm struct {
	text []string
	do   func()
}

type (
	unreadable struct{ err error }
	became     struct{ text string }
	pastRuns   []view.RunView
	answered   struct {
		id, text string
		err      error
	}
	said struct {
		of    string
		first bool
		lines []string
	}
	shown struct {
		of      string
		details view.Details
		err     error
	}
)

const (
	recently = 200  // what was said before that is shown, in texts
	maxLog   = 2000 // texts of a log that are kept
)

// New returns a Board that has not seen anything yet.
func New(ctx context.Context, c Config, start func(do func() any), send func(msg tea.Msg)) *Board {
	return &Board{ctx: ctx, config: c, start: start, send: send, copy: func(string) {}, look: make(chan struct{}, 1),
		stopRead: func() {}}
}

// Stands is until the ages that are shown grow, or keys count.
func (b *Board) Stands(now time.Time) time.Duration {
	if b.form != nil {
		if left := b.form.Left(now); left > 0 {
			return left
		}
	}
	return time.Minute
}

// Update takes a key, or what has happened.
func (b *Board) Update(msg tea.Msg, now time.Time) (stays bool) {
	switch msg := msg.(type) {
	case view.Overview:
		b.see(msg)
	case unreadable:
		b.broken = msg.err
	case became:
		b.note = msg.text
	case error:
		b.note = "! " + msg.Error()
	case pastRuns:
		b.past = append([]view.RunView{}, msg...)
		b.relist()
	case answered:
		b.onAnswered(msg, now)
	case said:
		if msg.of == b.subject && b.pane == logPane {
			if msg.first {
				b.log = nil
			}
			b.log = append(b.log, msg.lines...)
			b.log = b.log[max(len(b.log)-maxLog, 0):]
		}
	case shown:
		if msg.of == b.subject {
			b.details = &msg.details
			if msg.err != nil {
				b.details, b.note = nil, "! "+msg.err.Error()
			}
		}
	case terminal.Mouse:
		b.onMouse(msg)
	case terminal.Tick, tea.PasteMsg, tea.KeyPressMsg:
		return b.typed(msg, now)
	}
	return true
}

// see takes what the source has found.
func (b *Board) see(o view.Overview) {
	b.now, b.broken, b.known = o, nil, true
	for _, q := range o.Closed {
		if b.form != nil && b.form.Question().ID == q.ID && !b.sending {
			b.form = nil
			b.note = q.ID + " " + closing(q)
		}
	}
	if b.past != nil && len(o.Ended) > 0 {
		b.fetchPast()
	}
	b.relist()
	if b.pane != logPane {
		b.fetchDetails()
	}
}

// closing says how a question was closed elsewhere.
func closing(q view.QuestionView) string {
	if q.Answer == nil {
		return "is no longer asked"
	}
	return fmt.Sprintf("was answered by %s: %s", q.AnsweredBy, *q.Answer)
}

// relist lists anew, with the cursor on what it was on.
func (b *Board) relist() {
	at := b.at()
	b.list = entries(b.now, b.past, b.filter)
	if b.index(b.selected) < 0 && len(b.list) > 0 {
		b.selected = b.list[min(max(at, 0), len(b.list)-1)].id
	}
	b.read()
}

func (b *Board) index(id string) int {
	return slices.IndexFunc(b.list, func(e entry) bool { return e.id == id })
}

func (b *Board) at() int { return b.index(b.selected) }

// current is what the cursor is on.
func (b *Board) current() (entry, bool) {
	at := b.at()
	if at < 0 {
		return entry{}, false
	}
	return b.list[at], true
}

func (b *Board) move(by int) {
	if len(b.list) > 0 {
		b.selected = b.list[min(max(b.at()+by, 0), len(b.list)-1)].id
		b.read()
	}
}

// read begins to show what the cursor is on.
func (b *Board) read() {
	e, _ := b.current()
	if b.subject == e.of() {
		return
	}
	b.stopRead()
	b.subject, b.log, b.details, b.scroll = e.of(), nil, nil, 0
	b.stopRead = func() {}
	if b.subject == "" {
		return
	}
	if b.pane != logPane {
		b.fetchDetails()
		return
	}
	ctx, stop := context.WithCancel(b.ctx)
	b.stopRead = stop
	of := b.subject
	b.start(func() any {
		select {
		case <-time.After(restsAfter): // a cursor that only passes by has nothing read
		case <-ctx.Done():
			return nil
		}
		first := true
		err := b.config.Source.Follow(ctx, of, recently, func(lines []string) error {
			clean := make([]string, len(lines))
			for i, line := range lines {
				clean[i] = terminal.Clean(line)
			}
			b.send(said{of, first, clean})
			first = false
			return ctx.Err()
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// restsAfter is how long the cursor stays on what is read.
const restsAfter = 80 * time.Millisecond

func (b *Board) fetchDetails() {
	of := b.subject
	if of == "" {
		return
	}
	b.start(func() any {
		d, err := b.config.Source.Show(b.ctx, of)
		return shown{of, d, err}
	})
}

// maxPast is how many runs that have ended are shown.
const maxPast = 100

func (b *Board) fetchPast() {
	b.start(func() any {
		runs, err := b.config.Source.Past(b.ctx, 0, maxPast)
		if err != nil {
			return err
		}
		return pastRuns(runs)
	})
}

// do does what takes time, says what became of it, and has it seen.
func (b *Board) do(what func() (string, error)) {
	b.note = ""
	b.start(func() any {
		text, err := what()
		b.refresh()
		if err != nil {
			return err
		}
		return became{text}
	})
}

func (b *Board) refresh() {
	select {
	case b.look <- struct{}{}:
	default: // one is on its way
	}
}

// ask opens the form of a question.
func (b *Board) ask(q view.QuestionView, now time.Time) {
	folder := ""
	if i := slices.IndexFunc(b.list, func(e entry) bool { return e.question == nil && e.id == q.Agent }); i >= 0 {
		folder = b.list[i].folder()
	}
	if folder == "" {
		folder = q.Cwd
	}
	b.form, b.sending, b.selected = terminal.NewForm(b.config.Question(q), folder, b.config.Colours), false, q.ID
	b.form.Draw(now)
	b.read()
}

// next opens the form of the first open question that was not put off; none where there is no other.
func (b *Board) next(now time.Time) {
	b.form = nil
	for range 2 {
		for _, q := range b.now.Questions {
			if !slices.Contains(b.passed, q.ID) {
				b.ask(q, now)
				return
			}
		}
		b.passed = nil
	}
}

// open is the question that an entry is, or that its agent asks.
func (b *Board) open(e entry) (view.QuestionView, bool) {
	for _, q := range b.now.Questions {
		if q.ID == e.id || e.question == nil && (q.Agent == e.id || q.Run == e.id) {
			return q, true
		}
	}
	return view.QuestionView{}, false
}

func (b *Board) onAnswered(a answered, now time.Time) {
	mine := b.form != nil && b.form.Question().ID == a.id
	if mine {
		b.sending = false
	}
	switch {
	case a.err != nil && mine:
		b.form.Refuse(a.err.Error())
	case a.err != nil:
		b.note = "! " + a.err.Error()
	default:
		b.note = a.text
		b.now.Questions = slices.DeleteFunc(slices.Clone(b.now.Questions),
			func(q view.QuestionView) bool { return q.ID == a.id })
		b.relist()
		if mine {
			b.next(now)
		}
	}
}

// typed takes a key, a paste or a Tick for whatever has the keys.
func (b *Board) typed(msg tea.Msg, now time.Time) (stays bool) {
	key, _ := msg.(tea.KeyPressMsg)
	_, tick := msg.(terminal.Tick)
	switch {
	case b.form != nil && b.sending:
	case b.form != nil:
		b.inForm(msg, now)
	case tick:
	case b.help:
		b.help = false
	case b.confirm != nil:
		asked := b.confirm
		b.confirm, b.note = nil, "Nothing was done."
		if s := key.String(); s == "y" || s == "Y" {
			b.note = ""
			asked.do()
		}
	case b.line != nil:
		b.inLine(msg)
	default:
		return b.command(key.String(), now)
	}
	return true
}

func (b *Board) inForm(msg tea.Msg, now time.Time) {
	q := b.form.Question()
	reply, what := b.form.Update(msg, now)
	switch what {
	case terminal.FormLeaves:
		b.form = nil
	case terminal.FormNext:
		b.passed = append(b.passed, q.ID)
		b.next(now)
	case terminal.FormReplies:
		b.sending = true
		b.start(func() any {
			text, err := b.config.Actions.Answer(b.ctx, q.ID, reply)
			b.refresh()
			return answered{q.ID, text, err}
		})
	case terminal.FormStays:
	}
}

func (b *Board) inLine(msg tea.Msg) {
	line := b.line
	if paste, is := msg.(tea.PasteMsg); is {
		line.text = append(line.text, []rune(paste.Content)...)
	}
	if key, is := msg.(tea.KeyPressMsg); is {
		switch s := key.String(); s {
		case "enter":
			b.line = nil
			line.take(string(line.text))
			return
		case "esc":
			b.line = nil
			if line.live {
				line.take("")
			}
			return
		case "backspace", "ctrl+h":
			line.text = line.text[:max(len(line.text)-1, 0)]
		case "ctrl+u":
			line.text = nil
		default:
			line.text = append(line.text, []rune(key.Text)...)
		}
	}
	if line.live {
		line.take(string(line.text))
	}
}

// command does what a key asks for while nothing else has the keys.
func (b *Board) command(key string, now time.Time) (stays bool) {
	e, is := b.current()
	switch key {
	case "q", "ctrl+d":
		return false
	case "?":
		b.help = true
	case "up", "k", "ctrl+p":
		b.move(-1)
	case "down", "j", "ctrl+n":
		b.move(1)
	case "home", "g":
		b.move(-len(b.list))
	case "end", "G":
		b.move(len(b.list))
	case "pgup":
		b.scroll = b.scrolled(-b.place.pane / 2)
	case "pgdown":
		b.scroll = b.scrolled(b.place.pane / 2)
	case "tab":
		b.pane = (b.pane + 1) % panes
		b.subject = ""
		b.read()
	case "a":
		b.passed = nil
		b.next(now)
	case "enter":
		if q, open := b.open(e); is && open {
			b.ask(q, now)
		}
	case "/":
		b.line = &typed{label: "filter: ", text: []rune(b.filter), live: true, take: func(text string) {
			b.filter = text
			b.relist()
		}}
	case "e":
		if b.past == nil {
			b.fetchPast()
		} else {
			b.past = nil
			b.relist()
		}
	default:
		if is {
			b.onEntry(key, e)
		}
	}
	return true
}

// onEntry does what a key asks for of what the cursor is on.
func (b *Board) onEntry(key string, e entry) {
	of, actions := e.of(), b.config.Actions
	run := ""
	if e.run != nil {
		run = e.run.ID
	}
	sure := func(text string, do func() (string, error), more ...string) {
		b.confirm = &confirm{append([]string{text}, more...), func() { b.do(do) }}
	}
	switch key {
	case "c":
		b.copy(e.id)
		b.note = e.id + " is copied, where the terminal allows that."
	case "o":
		if folder := e.folder(); folder != "" {
			b.do(func() (string, error) { return "", actions.Open(b.ctx, folder) })
		}
	case "w":
		if of != "" {
			b.line = &typed{label: "to " + of + ": ", take: func(text string) {
				if strings.TrimSpace(text) != "" {
					b.do(func() (string, error) { return actions.Say(b.ctx, of, text) })
				}
			}}
		}
	case "s":
		if of != "" {
			sure("Stop "+of+", and what it started?", func() (string, error) { return actions.Stop(b.ctx, of) })
		}
	case "r":
		if run != "" {
			b.do(func() (string, error) { return actions.Resume(b.ctx, run) })
		}
	case "R":
		if run != "" {
			sure("Try again what has failed in "+run+"?", func() (string, error) { return actions.Retry(b.ctx, run) })
		}
	case "p":
		if run != "" {
			sure("Forget "+run+", its questions and its log?", func() (string, error) { return actions.Prune(b.ctx, run) })
		}
	case "m", "d":
		b.worktree(key, of, sure)
	}
}

// worktree asks whether the worktree of an agent is to be merged or dropped.
func (b *Board) worktree(key, of string, sure func(string, func() (string, error), ...string)) {
	if b.pane != worktreePane || b.details == nil {
		b.note = "Tab shows the worktrees; there m merges one and d drops it."
		return
	}
	agent := of
	if b.details.Agent == "" && len(b.details.Worktrees) == 1 {
		for only := range b.details.Worktrees {
			agent = only
		}
	}
	w, own := b.details.Worktrees[agent]
	commands, what, do := w.Merge, "Merge what is left in the worktree of ", b.config.Actions.Merge
	if key == "d" {
		commands, what, do = w.Drop, "Drop the worktree of ", b.config.Actions.Drop
	}
	if !own || len(commands) == 0 {
		b.note = "There is nothing of " + agent + " to do that with; select the agent whose worktree it is."
		return
	}
	run := b.details.Run.ID
	sure(what+agent+"? This is run, as you:", func() (string, error) {
		return do(b.ctx, run, agent)
	}, commands...)
}

// onMouse selects what was clicked, and scrolls what the pointer is on.
func (b *Board) onMouse(m terminal.Mouse) {
	onList := m.X < b.place.listWidth && m.Y >= b.place.top && m.Y < b.place.top+b.place.list
	switch {
	case b.form != nil || b.line != nil || b.confirm != nil:
	case m.Wheel != 0 && onList:
		b.move(m.Wheel)
	case m.Wheel != 0:
		b.scroll = b.scrolled(m.Wheel * 3)
	case onList:
		if at := b.first + m.Y - b.place.top; at < len(b.list) {
			b.selected = b.list[at].id
			b.read()
		}
	}
}

// waiting is how many questions are open.
func (b *Board) waiting() int {
	n := 0
	for _, q := range b.now.Questions {
		if q.State == supervisor.Open {
			n++
		}
	}
	return n
}
