package board

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

// typed is a line that is being typed, and what it is for.
type typed struct {
	label string
	text  []rune
	live  bool // what is typed is taken as it comes
	take  func(text string)
	keep  func(text string) // has it kept as it comes; nil: it is not
}

// typed takes a key, a paste or a Tick for whatever has the keys.
func (b *Board) typed(msg tea.Msg, now time.Time) (stays bool) {
	key, _ := msg.(tea.KeyPressMsg)
	_, tick := msg.(terminal.Tick)
	if b.grace.Takes(msg, now) {
		return true
	}
	switch {
	case b.form != nil && b.sending:
		if key.String() == "esc" { // what is on its way stays so
			b.form = nil
		}
	case b.form != nil:
		b.inForm(msg, now)
	case tick:
	case b.cover != nil:
		b.inCover(key.String())
	case b.confirm != nil:
		asked := b.confirm
		b.confirm, b.note = nil, "Nothing was done."
		if s := key.String(); s == "y" || s == "Y" {
			b.note = ""
			asked.do()
		}
	case b.line != nil:
		b.inLine(msg)
	case b.whole && b.inWhole(key.String()):
	default:
		return b.command(key.String(), now)
	}
	return true
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
	if line.keep != nil {
		line.keep(string(line.text))
	}
}

// inWhole takes the keys that scroll a pane which has the whole screen, or lead back.
func (b *Board) inWhole(key string) bool {
	switch key {
	case "esc", "enter":
		b.whole = false
		b.leaveDiff()
	case "up", "k":
		b.scrollBy(-1)
	case "down", "j":
		b.scrollBy(1)
	case "home", "g":
		b.scrollBy(-1 << 20)
	case "end", "G":
		b.scrollBy(1 << 20)
	default:
		return false
	}
	return true
}

// command does what a key asks for while nothing else has the keys.
func (b *Board) command(key string, now time.Time) (stays bool) {
	b.note = ""
	e, is := b.current()
	switch key {
	case "q", "ctrl+d":
		return false
	case "?":
		b.cover, b.scroll = &cover{rows: b.helpRows}, 0
	case "S":
		b.showMeanwhile()
	case "up", "k", "ctrl+p":
		b.move(-1)
	case "down", "j", "ctrl+n":
		b.move(1)
	case "home", "g":
		b.move(-len(b.list))
	case "end", "G":
		b.move(len(b.list))
	case "pgup":
		b.scrollBy(-max(b.place.pane/2, 1))
	case "pgdown":
		b.scrollBy(max(b.place.pane/2, 1))
	case "tab":
		b.nextPane()
	case "a":
		b.passed = nil
		b.next(now)
		if b.form == nil {
			b.note = "No question is open."
		}
	case "<":
		b.back(now)
	case "enter":
		b.enter(now)
	case "/":
		b.line = &typed{label: "filter:", text: []rune(b.filter), live: true, take: b.only}
	case "esc":
		b.only("")
	case "n":
		b.begin(e)
	case "e":
		b.togglePast()
	default:
		if is {
			b.onEntry(key, e)
		}
	}
	return true
}

// begin asks for a task, the folder in which it is done and the name of its run, each in the line, and starts it. The
// task stays until it is started.
func (b *Board) begin(e entry) {
	if b.lacks("n") {
		return
	}
	start := service.Start{Cwd: b.config.Folder}
	switch {
	case e.run != nil:
		start.Cwd = e.run.Cwd
	case e.question != nil:
		start.Cwd = e.question.Cwd
	}
	ask := func(label, text string, take func(string)) {
		b.line = &typed{label: label, text: []rune(text), take: take}
	}
	ask("task:", b.task, func(task string) {
		b.task = task
		if start.Prompt = task; strings.TrimSpace(task) == "" {
			b.note = "Nothing was started."
			return
		}
		ask("in the folder:", start.Cwd, func(folder string) {
			start.Cwd = folder
			ask("name, or nothing:", "", func(name string) {
				start.Name = strings.TrimSpace(name)
				b.note = "…"
				b.start(func() any {
					run, _, err := b.config.Service.(service.Starter).Start(b.ctx, start)
					b.refresh()
					return begun{start.Prompt, run, err}
				})
			})
		})
	})
	b.line.keep = func(task string) { b.task = task }
}

// onBegun has the cursor on the new run as soon as it is seen.
func (b *Board) onBegun(m begun) {
	if m.err != nil {
		b.note = "! " + m.err.Error()
		return
	}
	if b.task == m.task {
		b.task = ""
	}
	b.note, b.begun = m.run+" is started.", m.run
	b.relist()
}

// enter opens what the cursor is on: the question that is asked, else what is shown of it on the whole screen.
func (b *Board) enter(now time.Time) {
	e, is := b.current()
	if !is {
		return
	}
	if q, open := b.asks(e); open && (e.question == nil && !b.whole || b.shows() == questionPane) {
		b.ask(q, now)
		return
	}
	b.whole = true
}

// sure has the person asked whether something is to be done.
func (b *Board) sure(do func() (string, error), text ...string) {
	b.confirm = &confirm{text, func() { b.do(do) }}
}

// onEntry does what a key asks for of what the cursor is on.
func (b *Board) onEntry(key string, e entry) {
	of, runs := e.of(), b.config.Service
	if b.lacks(key) {
		return
	}
	run := e.runID()
	switch key {
	case "c":
		b.copy(e.id)
		b.note = e.id + " is in the clipboard, if the terminal allows that."
	case "o":
		if folder := e.folder(); folder != "" {
			b.do(func() (string, error) { return "", b.config.Service.(service.Opener).Open(b.ctx, folder) })
		}
	case "w":
		if of != "" {
			b.write(e)
		}
	case "s":
		if of != "" {
			b.sure(func() (string, error) { return runs.Stop(b.ctx, of, b.config.By) },
				"Stop "+called(e)+", and what it started?")
		}
	case "r":
		if run != "" {
			b.do(func() (string, error) { return runs.(service.Resumer).Resume(b.ctx, run) })
		}
	case "R":
		if run != "" {
			b.sure(func() (string, error) { return runs.(service.Retrier).Retry(b.ctx, run) },
				"Try again what has failed in "+run+"?")
		}
	case "p":
		if run != "" {
			b.prune(run)
		}
	case "A":
		b.answerAgain(e)
	case "=":
		b.compare(e)
	case "K":
		b.keepRun(run)
	case "d":
		if b.shows() != worktreePane {
			b.showDiff(e)
			return
		}
		b.worktree(key, of)
	case "m":
		b.worktree(key, of)
	}
}

// write opens the line for a message, with what was typed of one before.
func (b *Board) write(e entry) {
	to := b.to(e.runID(), e.of())
	b.line = &typed{label: "to " + addressee(e) + ":", text: []rune(b.message(to)),
		keep: func(text string) { b.keepMessage(to, text) },
		take: func(text string) {
			if strings.TrimSpace(text) == "" {
				return
			}
			b.note = "…"
			b.start(func() any {
				becomes, err := b.config.Service.(service.Messenger).Say(b.ctx, e.of(), text, b.config.By)
				b.refresh()
				return told{to, text, becomes, err}
			})
		}}
}

// called is what a person is told that something is done to: its id, and what it is in a few words.
func called(e entry) string {
	id, words := e.of(), ""
	if e.run != nil {
		if a, is := e.run.Agent(id); is {
			words = a.Who
		} else {
			words = nameOf(e.run)
		}
	}
	if words = terminal.CleanLine(words, 40); words == "" || words == id {
		return id
	}
	return id + " (" + words + ")"
}

// addressee is whom a message goes to, in few words: there has to be room for the message.
func addressee(e entry) string {
	if e.run != nil && e.of() == e.run.ID && e.run.Name != "" {
		return called(e)
	}
	return e.of()
}

// prune asks whether a run is to be forgotten.
func (b *Board) prune(run string) {
	b.confirm = &confirm{[]string{"Delete the records of " + run + ": its questions and its log?"}, func() {
		b.start(func() any {
			text, err := b.config.Service.(service.Pruner).Prune(b.ctx, run)
			b.refresh()
			if err != nil {
				return err
			}
			return pruned{run, text}
		})
	}}
}

// onMouse selects what was clicked, opens what was clicked a second time, and scrolls what the pointer is on.
func (b *Board) onMouse(m terminal.Mouse, now time.Time) {
	onList := m.X < b.place.listWidth && m.Y >= b.place.top && m.Y < b.place.top+len(b.place.lines)
	switch {
	case b.line != nil || b.confirm != nil || b.cover != nil:
	case b.form != nil && !onList && m.Wheel != 0:
		b.form.Scroll(m.Wheel * 3)
	case b.form != nil && !onList:
		if !b.sending && m.X >= b.place.formLeft {
			b.form.Click(m.Y - b.place.formTop)
		}
	case b.form != nil && b.sending:
	case m.Wheel != 0 && onList && b.form == nil:
		b.move(m.Wheel)
	case m.Wheel != 0 && b.form == nil:
		b.scrollBy(m.Wheel * 3)
	case m.Wheel == 0 && onList && b.place.lines[m.Y-b.place.top] >= 0:
		id := b.list[b.place.lines[m.Y-b.place.top]].id
		if id == b.selected && b.form == nil {
			b.enter(now)
			return
		}
		b.form, b.selected = nil, id // what was typed in the form stays in it
		b.read()
	}
}

// A keyHelp says what keys do.
type keyHelp struct{ keys, does string }

// keysHelp says what the keys do that the board has.
func (b *Board) keysHelp() []keyHelp {
	back, panes := "back to the question that was put off last", "question, log, report"
	if b.config.Changes {
		back = "back to the question that was answered or put off last: an answer can be changed until the agent has it"
	}
	if b.config.has("m") {
		panes += ", worktrees (there m merges, d drops)"
	}
	return slices.DeleteFunc([]keyHelp{
		{"a", "answers what is asked, urgent first, then the oldest"},
		{"Enter", "answers the question that the cursor is on; of a run without one it shows the log on the whole screen"},
		{"<", back},
		{"Tab", panes},
		{"w", "writes to the agent; its log shows what it says"},
		{"s", "stops it, and what it started"},
		{"r", "resumes the run"},
		{"R", "tries again what has failed in it"},
		{"p", "deletes the records of a run that has ended"},
		{"d", "shows the diff of what it has changed"},
		{"A", "answers a question differently that was answered before: in a new run, which continues from there"},
		{"=", "compares such a run with the one that asked"},
		{"K", "keeps it: takes over what it has changed, and stops the others"},
		{"S", "shows what happened since you left: what waits, failed, was done, refused and decided"},
		{"o", "opens its folder"},
		{"c", "copies its id"},
		{"n", "starts a run: its task, folder and name"},
		{"/", "shows only what has these words: text, status, folder; past runs and answered questions, too; Esc shows " +
			"all again"},
		{"e", "shows the runs that have ended before, or hides them"},
		{"PgUp, PgDn", "scroll what is shown of it, as the wheel does"},
		{"click", "selects; a second one opens. In a form it selects an option; Enter answers"},
		{"q, Ctrl-C", "leaves; the runs continue"},
	}, func(k keyHelp) bool { return !b.config.has(k.keys) })
}
