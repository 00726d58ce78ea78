package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// answering is the person at the questions: what is asked, what was put off, what was answered.
type answering struct {
	form    *terminal.Form // open
	sending bool           // its reply is on its way
	passed  []string       // the questions that were put off
	trail   []step         // what was done with questions, the last last: the way back
	forms   map[string]*terminal.Form
	sent    map[string]bool               // the questions that were answered here, or are just being
	unsent  map[terminal.Addressee]string // messages that were typed here and not sent
	grace   terminal.Grace                // after a form was taken from under a person's hands: keys command nothing
}

// A step is a question that was put off or answered.
type step struct {
	question view.QuestionView
	answer   string // "": it was put off
}

// maxTrail is how far the way back goes.
const maxTrail = 100

type answered struct {
	question view.QuestionView
	form     *terminal.Form
	reply    terminal.Reply
	text     string
	err      error
}

// formOf returns the form of an open question, with what was typed in it.
func (b *Board) formOf(q view.QuestionView) *terminal.Form {
	f := b.forms[q.ID]
	if f == nil {
		f = terminal.NewForm(b.config.Question(q), b.folderOf(q), b.config.Colours, b.config.Drafts)
		b.edits(f)
		b.forms[q.ID] = f
		if b.config.Reminds != nil {
			b.start(func() any {
				if r, is := b.config.Reminds(b.ctx, q.ID); is {
					return reminded{f, r}
				}
				return nil
			})
		}
	}
	return f
}

// reminded is what was answered before to what a form asks.
type reminded struct {
	form *terminal.Form
	what terminal.Reminder
}

func (b *Board) folderOf(q view.QuestionView) string {
	if i := slices.IndexFunc(b.list, func(e entry) bool { return e.question == nil && e.id == q.Agent }); i >= 0 {
		if folder := b.list[i].folder(); folder != "" {
			return folder
		}
	}
	return q.Cwd
}

// forget lets go of questions that are not open any more.
func (b *Board) forget(o view.Overview, now time.Time) {
	open := map[string]bool{}
	for _, q := range o.Questions {
		open[q.ID] = true
	}
	for _, q := range o.Closed {
		b.lose(q, now)
	}
	for id := range b.forms {
		if !open[id] && b.form != b.forms[id] {
			delete(b.forms, id)
		}
	}
}

// lose takes the form of a question from the person that was closed elsewhere, and keeps what was typed in it.
func (b *Board) lose(q view.QuestionView, now time.Time) {
	form := b.forms[q.ID]
	mine := b.sent[q.ID]
	delete(b.sent, q.ID)
	if mine {
		return
	}
	draft := ""
	if form != nil {
		draft = strings.TrimSpace(form.Draft())
		form.Close()
	}
	if form != nil && b.form == form {
		b.form = nil
		b.grace.Begin(now)
	} else if draft == "" {
		return // the person is at another one
	}
	b.note = q.ID + " " + closing(q)
	switch to := b.to(q.Run, q.Agent); {
	case draft == "":
	case q.Run == "" || !b.config.has("w"):
		b.note = "Not sent: " + terminal.CleanLine(draft, 200) + ". " + b.note
	default:
		b.keepMessage(to, strings.TrimPrefix(b.message(to)+"\n"+draft, "\n"))
		b.note = "What you typed is kept: w writes it to " + cmp.Or(q.Agent, q.Run) + ". " + b.note
	}
}

// to is whom a message to an agent of a run, or to the run, is for: a run's messages are its first agent's.
func (b *Board) to(run, of string) terminal.Addressee {
	to := terminal.Addressee{Run: run}
	for _, runs := range [][]view.RunView{b.now.Runs, b.over()} {
		for i := range runs {
			if a, is := runs[i].Agent(of); is && runs[i].ID == run && a.Parent != "" {
				to.Agent = of
			}
		}
	}
	return to
}

// message is what was typed for somebody and not sent, here or before.
func (b *Board) message(to terminal.Addressee) string {
	if typed, is := b.unsent[to]; is {
		return typed
	}
	return b.config.Drafts.Message(to)
}

func (b *Board) keepMessage(to terminal.Addressee, text string) {
	b.unsent[to] = text
	b.config.Drafts.KeepMessage(to, text)
}

// told is what became of a message.
type told struct {
	to            terminal.Addressee
	text, becomes string
	err           error
}

func (b *Board) onTold(m told) {
	switch {
	case m.err != nil:
		b.note = "! " + m.err.Error()
		return
	case b.message(m.to) == m.text: // nothing else was begun meanwhile
		b.keepMessage(m.to, "")
	}
	b.note = m.becomes
}

// Unsent is what was typed on this board and not sent, each with what it was typed for.
func (b *Board) Unsent() []string {
	var texts []string
	add := func(of, text string) {
		if text = terminal.CleanLine(text, 200); text != "" {
			texts = append(texts, "["+of+"] Not sent: "+text)
		}
	}
	for id, form := range b.forms {
		if !b.sent[id] && form.Typed() {
			add(id, form.Draft())
		}
	}
	for to, text := range b.unsent {
		add(cmp.Or(to.Agent, to.Run), text)
	}
	slices.Sort(texts)
	return texts
}

// closing says how a question was closed elsewhere.
func closing(q view.QuestionView) string {
	if q.Answer == nil {
		return "is no longer asked"
	}
	return fmt.Sprintf("was answered by %s: %s", q.AnsweredBy, *q.Answer)
}

// ask opens the form of a question.
func (b *Board) ask(q view.QuestionView, now time.Time) {
	b.open(b.formOf(q), now)
	b.selected = q.ID
	b.read()
}

func (b *Board) open(f *terminal.Form, now time.Time) {
	b.form, b.sending, b.note = f, false, ""
	b.grace = terminal.Grace{} // the form has its own
	b.form.Draw(now)
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

// back opens the question that was put off or answered last: an answer can be changed until it is delivered.
func (b *Board) back(now time.Time) {
	for len(b.trail) > 0 {
		last := b.trail[len(b.trail)-1]
		b.trail = b.trail[:len(b.trail)-1]
		if last.answer != "" {
			f := terminal.NewChange(b.config.Question(last.question), last.answer, b.folderOf(last.question), b.config.Colours)
			b.edits(f)
			b.open(f, now)
			return
		}
		b.passed = slices.DeleteFunc(b.passed, func(id string) bool { return id == last.question.ID })
		if b.isOpen(last.question.ID) {
			b.ask(last.question, now)
			return
		}
	}
	b.note = "There is no question to go back to."
}

func (b *Board) went(s step) {
	b.trail = append(b.trail, s)
	b.trail = b.trail[max(len(b.trail)-maxTrail, 0):]
}

func (b *Board) isOpen(id string) bool {
	return slices.ContainsFunc(b.now.Questions, func(q view.QuestionView) bool { return q.ID == id })
}

// asks is the open question that an entry is, or that its agent asks.
func (b *Board) asks(e entry) (view.QuestionView, bool) {
	for _, q := range b.now.Questions {
		if q.ID == e.id || e.question == nil && (q.Agent == e.id || q.Run == e.id) {
			return q, true
		}
	}
	return view.QuestionView{}, false
}

// around is what there is beside the question of the form.
func (b *Board) around() terminal.Around {
	more := b.waiting()
	if b.isOpen(b.form.Question().ID) {
		more--
	}
	return terminal.Around{More: more, Back: len(b.trail) > 0}
}

func (b *Board) inForm(msg tea.Msg, now time.Time) {
	form := b.form
	reply, what := form.Update(msg, now)
	q, open := b.questionOf(form)
	switch what {
	case terminal.FormLeaves:
		b.form = nil
		b.relist() // the cursor is on a question that a filter may hide
	case terminal.FormNext:
		if open {
			b.passed = append(b.passed, q.ID)
			b.went(step{question: q})
		}
		b.next(now)
	case terminal.FormBack:
		b.back(now)
	case terminal.FormKeeps:
		b.next(now)
	case terminal.FormReplies:
		b.sending = true
		b.sent[form.Question().ID] = true
		b.start(func() any {
			text, err := b.answer(form.Question().ID, reply)
			b.refresh()
			return answered{q, form, reply, text, err}
		})
	case terminal.FormStays:
	}
}

// questionOf returns the question of a form, and whether it is open.
func (b *Board) questionOf(f *terminal.Form) (view.QuestionView, bool) {
	id := f.Question().ID
	for _, q := range b.now.Questions {
		if q.ID == id {
			return q, true
		}
	}
	return view.QuestionView{ID: id}, false
}

func (b *Board) onAnswered(a answered, now time.Time) {
	id := a.question.ID
	mine := b.form != nil && b.form.Question().ID == id
	if mine {
		b.sending = false
	}
	if a.err != nil {
		delete(b.sent, id)
	}
	switch {
	case a.err != nil && mine:
		b.form.Refuse(a.err.Error())
	case a.err != nil:
		b.note = "! " + a.err.Error()
	default:
		a.form.Close()
		if b.config.Changes && !a.reply.Decline && a.reply.Text != "" && a.question.Run != "" {
			b.went(step{a.question, a.reply.Text})
		}
		b.now.Questions = slices.DeleteFunc(slices.Clone(b.now.Questions),
			func(q view.QuestionView) bool { return q.ID == id })
		b.relist()
		if mine {
			b.next(now)
		}
		b.note = a.text
	}
}
