package terminal

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A Form is one question in a part of a picture of others': the form that a Prompter asks, with its grace, its draft,
// and nothing selected that permits something. It is not for several goroutines at once.
type Form struct {
	form  *form
	dir   string
	grace grace
	rows  []string // that were given last,
	cut   int      // after so many

	drafts Drafts
	edit   func(draft string) (string, error) // see Edits
	before []savedDraft                       // what had been typed when it was made
	saved  []savedDraft                       // as they are on disk
}

// FormAct is what a key in a Form has led to.
type FormAct int

// What a key leads to.
const (
	FormStays   FormAct = iota // it is shown anew, no more
	FormReplies                // the question has its reply
	FormKeeps                  // the answer that was given before stands
	FormNext                   // to the next question
	FormBack                   // to the one before
	FormLeaves                 // back to where the form was opened
)

// NewForm returns the form of a question, with what was typed for it before. Paths in its answer are looked up relative
// to dir.
func NewForm(q Question, dir string, colours bool, drafts Drafts) *Form {
	f := &Form{form: newForm(q, false, "", newStyles(colours)), dir: dir, drafts: drafts}
	f.form.restore(drafts.of(q))
	f.before = f.form.unsent()
	f.saved = f.before
	return f
}

// NewChange returns the form by which an answer that was given is changed.
func NewChange(q Question, given, dir string, colours bool) *Form {
	return &Form{form: newForm(q, false, given, newStyles(colours)), dir: dir}
}

// Edits has answers written in the editor that s lends its terminal to, where the person has set one.
func (f *Form) Edits(ctx context.Context, s *FullScreen) {
	e := newEditor(os.Getenv, f.drafts, s.lend)
	f.form.editor = e.named(f.form.q)
	f.edit = func(draft string) (string, error) { return e.write(ctx, f.form.q, draft) }
}

// Question is what the form asks.
func (f *Form) Question() Question { return f.form.q }

// Draw begins the form's grace: it is drawn from now on.
func (f *Form) Draw(now time.Time) { f.grace.begin(now) }

// Left is how long keys do not count yet; 0 if they do.
func (f *Form) Left(now time.Time) time.Duration {
	if !f.grace.on() {
		return 0
	}
	return max(f.grace.left(now), time.Millisecond)
}

// Around is what there is beside a question.
type Around struct {
	More int  // how many others wait
	Back bool // there is one to go back to
}

// Rows returns the form as it is now.
func (f *Form) Rows(columns, height int, around Around, now time.Time) []string {
	f.form.reading, f.form.canPutOff, f.form.canLeave = f.grace.on(), around.More > 0, true
	f.form.canGoBack = around.Back
	rows := f.form.view(columns, height, around.More, now)
	f.rows, f.cut = rows, 0
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:]
		f.cut++
	}
	return rows
}

// Click selects the option whose row was clicked, as its key would: it marks one of several, and answers nothing. row
// counts from 0 in what Rows gave last.
func (f *Form) Click(row int) {
	row += f.cut
	form := f.form
	if f.grace.on() || form.writing != nothing || row < form.inputAt || row >= form.inputEnd ||
		form.choices.counted && row == form.inputEnd-1 {
		return
	}
	if at, is := form.choices.optionAt(f.rows[form.inputAt : row+1]); is {
		form.note = ""
		form.choices.click(at)
	}
}

// Preview returns the form as it is before it has the keys: nothing is chosen, and no key is named but the one that
// opens it.
func (f *Form) Preview(columns, height int, now time.Time) []string {
	form := f.form
	form.seen = true
	defer func() { form.seen = false }()
	if c := form.choices; c != nil {
		defer func(none bool) { c.none = none }(c.none)
		c.none = true
	}
	form.words.Blur()
	defer func() { form.words.Focus() }()
	return f.Rows(columns, height, Around{}, now)
}

// Scroll scrolls what there is to read, by rows.
func (f *Form) Scroll(by int) { f.form.scroll = min(max(f.form.scroll+by, 0), f.form.most) }

// Update takes a key, a paste or a Tick. What is typed is kept at each.
func (f *Form) Update(msg tea.Msg, now time.Time) (Reply, FormAct) {
	reply, act := f.update(msg, now)
	if drafts := f.form.unsent(); f.form.before == "" && !slices.EqualFunc(drafts, f.saved, savedDraft.equal) {
		f.saved = drafts
		f.drafts.keep(f.form.q, drafts)
	}
	return reply, act
}

func (f *Form) update(msg tea.Msg, now time.Time) (Reply, FormAct) {
	if _, is := msg.(Tick); is {
		f.grace.end(now)
		return Reply{}, FormStays
	}
	if f.grace.on() {
		f.grace.drop(now)
		return Reply{}, FormStays
	}
	q := f.form.q
	if key, is := msg.(tea.KeyPressMsg); is && key.String() == "esc" && f.resting() {
		return Reply{}, FormLeaves
	}
	what := f.form.press(msg)
	var chosen string
	var err error
	switch what.kind {
	case choose:
		chosen, err = q.Choose(what.text, OnDisk(f.dir))
	case pick:
		chosen, err = q.Pick(what.picked, OnDisk(f.dir))
	case keep:
		return Reply{}, FormKeeps
	case goBack:
		return Reply{}, FormBack
	case skip:
		return Reply{}, FormReplies
	case decline:
		return Reply{Text: what.text, Decline: true}, FormReplies
	case putOff:
		return Reply{}, FormNext
	case edit:
		if f.edit != nil {
			f.form.edited(f.edit(f.form.written()))
		}
		return Reply{}, FormStays
	case leave:
		return Reply{}, FormLeaves
	default:
		return Reply{}, FormStays
	}
	if err != nil {
		f.Refuse(err.Error())
		return Reply{}, FormStays
	}
	if before := f.form.before; before != "" && chosen == before {
		return Reply{}, FormKeeps
	}
	return Reply{Text: chosen, Change: f.form.before != ""}, FormReplies
}

// resting reports whether nothing is typed or open that Esc would close first.
func (f *Form) resting() bool {
	form := f.form
	return !form.help && (form.writing == nothing && form.choices.filter == "" ||
		form.writing == ownAnswer && form.choices == nil)
}

// Draft is what was typed and not sent; "" if nothing was.
func (f *Form) Draft() string { return whole(f.form.unsent()) }

// Typed reports whether Draft is not as it was when the form was made.
func (f *Form) Typed() bool { return !slices.EqualFunc(f.form.unsent(), f.before, savedDraft.equal) }

// Close removes what is kept of Draft: the question is answered, or asked no more.
func (f *Form) Close() { f.drafts.keep(f.form.q, nil) }

// Refuse tells the person why the reply was not taken.
func (f *Form) Refuse(why string) {
	f.form.say("Not taken: " + strings.TrimSuffix(CleanLine(why, 0), ".") + ".")
}
