package board

import (
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
)

// answered reports whether an entry is a question that was answered, and may be answered differently in a new run.
func (e entry) answered() bool {
	return e.question != nil && e.question.Run != "" && e.question.State != supervisor.Open && e.question.Answer != nil &&
		questions.KindOf(e.question.Kind).Again
}

// forked reports whether an entry is of a run that continues from a question of another one.
func (e entry) forked() bool { return e.question == nil && e.run != nil && e.run.Forked != nil }

// answerAgain asks for another answer to a question in the line, says what that would do, and does it.
func (b *Board) answerAgain(e entry) {
	if !e.answered() {
		b.note = "A is for a question that was answered: / finds it. Of one that is open Enter answers."
		return
	}
	id := e.id
	b.line = &typed{label: "instead of " + *e.question.Answer + ":", take: func(text string) {
		if text = strings.TrimSpace(text); text == "" {
			b.note = "Nothing was started."
			return
		}
		a := service.Answer{Typed: &text, By: b.config.By, Screen: true}
		forker := b.config.Service.(service.Forker)
		b.note = "…"
		b.start(func() any {
			would, err := forker.Again(b.ctx, id, a, false)
			return asksFirst{would.Caution, err, func() (string, error) {
				begun, err := forker.Again(b.ctx, id, a, true)
				return begun.Run + " continues from " + id + " in the background. There = compares, K keeps.", err
			}}
		})
	}}
}

// compare shows a run beside the one from whose question it continues, on the whole screen.
func (b *Board) compare(e entry) {
	if !e.forked() {
		b.note = "= is for a run that continues from a question which was answered differently."
		return
	}
	b.pane, b.whole, b.subject, b.selected = diffPane, true, "", e.run.ID
	b.against = e.run.Forked.Run
	b.read()
}

// keepRun says what keeping a run would do, and does it.
func (b *Board) keepRun(run string) {
	if run == "" {
		b.note = "The script that asks belongs to no run."
		return
	}
	forker := b.config.Service.(service.Forker)
	b.note = "…"
	b.start(func() any {
		would, err := forker.Keep(b.ctx, run, false)
		return asksFirst{would, err, func() (string, error) { return forker.Keep(b.ctx, run, true) }}
	})
}

// asksFirst is what is to be done, with what the person reads before they say yes to it.
type asksFirst struct {
	would string
	err   error
	do    func() (string, error)
}

func (b *Board) onAsksFirst(a asksFirst) {
	switch {
	case a.err != nil:
		b.note = "! " + a.err.Error()
	case b.form != nil || b.line != nil || b.confirm != nil: // the person has gone on
		b.note = "! Not done, for something else was begun meanwhile: press the key again."
	default:
		b.note = ""
		b.sure(a.do, a.would)
	}
}
