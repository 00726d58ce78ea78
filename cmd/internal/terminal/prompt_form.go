package terminal

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// openForm asks the current question as a form. One that was open when the program left the foreground comes back as it
// was.
func (a *promptState) openForm() {
	before := ""
	if a.earlier > 0 {
		before = a.given[a.current.Group][a.earlier-1].text
	}
	kept := a.kept[a.current.ID]
	delete(a.kept, a.current.ID)
	if kept == nil || kept.before != before {
		kept = newForm(*a.current, a.canGoBack(), before, a.styles)
		kept.restore(a.restoreDraft())
	}
	a.form = kept
	a.saved = kept.unsent()
}

// draw shows the form as it is now; anew, below what others have written.
func (a *promptState) draw(anew bool) {
	if a.form == nil {
		return
	}
	more := 0
	for _, q := range a.open {
		if q.ID != a.current.ID && !a.answered[q.ID] && (q.Group == "" || q.Group != a.current.Group) {
			more++
		}
	}
	a.form.reading = a.waits()
	a.form.canGoBack, a.form.canPutOff = a.canGoBack(), a.canPutOff()
	a.form.canSay, a.form.canLeave = a.say != nil, a.left != nil
	a.form.editor = a.editor.named(*a.current)
	columns, rows := a.out.size()
	a.out.draw(a.form.view(columns, max(rows-1, 1), more, time.Now()), anew)
}

// pressed takes what arrived for the current question. Within its grace that is dropped; quiet says that there was
// nothing, not even the start of a key. What comes with the key that ends a form was not meant for the next one. It
// reports whether the grace has ended.
func (a *promptState) pressed(ctx context.Context, msgs []tea.Msg, quiet bool, now time.Time) (ready bool) {
	switch {
	case a.waits() && !quiet:
		a.grace.drop(now)
		return false
	case a.waits():
		return !a.drawn && a.grace.end(now)
	}
	form := a.form
	for _, msg := range msgs {
		if a.form == nil || a.form != form {
			break
		}
		a.act(ctx, form.press(msg))
	}
	return false
}

func (a *promptState) act(ctx context.Context, what act) {
	switch what.kind {
	case stay:
	case choose:
		chosen, err := a.current.Choose(what.text, a.place())
		a.taken(ctx, chosen, err)
	case pick:
		chosen, err := a.current.Pick(what.picked, a.place())
		a.taken(ctx, chosen, err)
	case keep:
		a.close("")
	case skip:
		a.send(ctx, Reply{}, "skipped")
	case decline:
		a.decline(ctx, what.text)
	case goBack:
		a.back()
	case putOff:
		a.putOff()
	case putAside:
		a.keep()
		a.aside = true
		a.close("")
	case edit:
		a.form.edited(a.editor.write(ctx, *a.current, a.form.written()))
	case leave:
		a.end()
	}
}

// taken hands over what was chosen, unless it is what was answered before.
func (a *promptState) taken(ctx context.Context, chosen string, err error) {
	switch {
	case err != nil:
		a.form.say("Not taken: " + strings.TrimSuffix(err.Error(), ".") + ".")
	case a.earlier > 0 && chosen == a.form.before:
		a.close("")
	default:
		a.answer(ctx, chosen)
	}
}

// hangUp is the end of the terminal: nobody is there any more.
func (a *promptState) hangUp() {
	a.pause()
	a.deaf = true
}
