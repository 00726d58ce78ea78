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
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A Board is the picture of a terminal.FullScreen. It belongs to one goroutine.
type Board struct {
	ctx    context.Context
	config Config
	start  func(do func() any) // does what takes time, and has its message given to Update; nil is none
	send   func(msg tea.Msg)
	copy   func(text string)
	edits  func(*terminal.Form) // has its answers written in the person's editor
	look   chan struct{}        // asks the source to look again

	now    view.Overview
	broken error // the state cannot be read
	known  bool  // it was read once
	past

	list     []entry
	selected string // the id of the entry that the cursor is on
	first    int    // of the list's lines, that is shown; of the questions, where they and the runs scroll each by itself
	firstRun int    // of the runs, then
	filter   string
	place    layout
	whole    bool // the pane has the whole screen

	answering
	line    *typed // what is typed in the bottom row
	confirm *confirm
	cover   *cover    // nil: nothing is over the board
	note    string    // what became of the last action
	task    string    // of a run that was not started
	begun   string    // the run that was started here, until it is seen
	looked  time.Time // when it was said last that the person looks
	pressed time.Time // when a key was, last

	viewing
	diffing
}

// confirm is what a person is asked before it is done.
type confirm struct {
	text []string
	do   func()
}

type (
	unreadable struct{ err error }
	became     struct{ text string }
	away       struct{ text string }
	pruned     struct{ run, text string }
	begun      struct {
		task, run string
		err       error
	}
)

// New returns a Board that has not seen anything yet.
func New(ctx context.Context, c Config, start func(do func() any), send func(msg tea.Msg)) *Board {
	return &Board{ctx: ctx, config: c, start: start, send: send, look: make(chan struct{}, 1),
		copy: func(string) {}, edits: func(*terminal.Form) {},
		answering: answering{forms: map[string]*terminal.Form{}, sent: map[string]bool{},
			unsent: map[terminal.Addressee]string{}},
		viewing: viewing{stop: func() {}}}
}

// Stands is until the ages that are shown grow, or keys count.
func (b *Board) Stands(now time.Time) time.Duration {
	if b.form != nil {
		if left := b.form.Left(now); left > 0 {
			return left
		}
	}
	if left := b.grace.Left(now); left > 0 {
		return left
	}
	return time.Minute
}

// Update takes a key, or what has happened.
func (b *Board) Update(msg tea.Msg, now time.Time) (stays bool) {
	switch msg := msg.(type) {
	case view.Overview:
		if first := !b.known; first || now.Sub(b.pressed) < watches {
			b.looks(now, first)
		}
		b.see(msg, now)
	case unreadable:
		b.broken = msg.err
	case became:
		b.note = msg.text
	case away:
		b.note = strings.TrimSpace(msg.text + ". " + b.note)
	case error:
		b.note = "! " + msg.Error()
	case pastRuns:
		b.runs = append([]view.RunView{}, msg...)
		b.relist()
	case pastAsked:
		b.settled = msg
		b.relist()
	case asksFirst:
		b.onAsksFirst(msg)
	case view.Meanwhile:
		b.onMeanwhile(msg)
	case diffed:
		b.onDiffed(msg)
	case pruned:
		b.note = msg.text
		gone := func(r view.RunView) bool { return r.ID == msg.run }
		b.ended, b.runs = slices.DeleteFunc(b.ended, gone), slices.DeleteFunc(b.runs, gone)
		b.relist()
	case begun:
		b.onBegun(msg)
	case answered:
		b.onAnswered(msg, now)
	case reminded:
		msg.form.Remind(msg.what)
	case told:
		b.onTold(msg)
	case said:
		b.onSaid(msg)
	case shown:
		b.onShown(msg)
	case terminal.Mouse:
		b.onMouse(msg, now)
	case terminal.Tick:
		return b.typed(msg, now)
	case tea.PasteMsg, tea.KeyPressMsg:
		stays = b.typed(msg, now)
		b.pressed = now
		b.looks(now, true)
		return stays
	default: // a paste that is too long
		if b.form != nil && !b.sending {
			b.inForm(msg, now)
		} else if b.line != nil {
			b.note = "! That was longer than this line can take, and nothing of it was taken."
		}
	}
	return true
}

// see takes what the source has found.
func (b *Board) see(o view.Overview, now time.Time) {
	b.now, b.broken, b.known = o, nil, true
	for _, r := range o.Ended {
		b.note = fmt.Sprintf("%s: %s", nameOf(&r), r.Status)
	}
	// Last: who answers is told why the form is gone, though the run has ended with it.
	b.forget(o, now)
	b.ended = append(slices.Clone(o.Ended), b.ended...) // the last state of one first
	b.ended = b.ended[:min(len(b.ended), maxEnded)]
	if b.runs != nil && len(o.Ended) > 0 {
		b.fetchPast()
	}
	b.relist()
	if shown := b.shows(); shown == aboutPane || shown == worktreePane {
		b.fetchDetails()
	}
}

// relist lists anew, with the cursor on what it was on.
func (b *Board) relist() {
	at := b.at()
	b.list = entries(b.now, b.over(), b.answers(), b.filter, b.config.Home)
	if b.index(b.begun) >= 0 {
		b.selected, b.begun = b.begun, ""
	}
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

// do does what takes time, says what became of it, and has it seen.
func (b *Board) do(what func() (string, error)) {
	b.note = "…"
	b.start(func() any {
		text, err := what()
		b.refresh()
		if err != nil {
			return err
		}
		return became{text}
	})
}

// looksEvery is how exactly it is known when the person looked last.
const looksEvery = 10 * time.Second

// watches is for how long who has pressed a key sees what the board shows.
const watches = 15 * time.Minute

// looks says that the person looks, and has them told what has happened while they did not, if tells.
func (b *Board) looks(now time.Time, tells bool) {
	looker, is := b.config.Service.(service.Looker)
	if ago := now.Sub(b.looked); !is || ago >= 0 && ago < looksEvery {
		return
	}
	b.looked = now
	b.start(func() any {
		if text := b.config.Away(looker.Look(b.ctx)); tells && text != "" {
			return away{strings.ToUpper(text[:1]) + text[1:]}
		}
		return nil
	})
}

func (b *Board) refresh() {
	select {
	case b.look <- struct{}{}:
	default: // one is on its way
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
