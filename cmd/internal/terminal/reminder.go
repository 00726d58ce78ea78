package terminal

import "context"

// A Reminder is what the person answered before to a question that is like the one that is open.
type Reminder struct {
	Answer string
	Said   string // when and where, for people: "as you said on 3 Nov in r-…"
}

// toRemind takes the answer of a reminder.
const toRemind = "="

// Reminds has f find what the person answered before to a question, which is asked meanwhile; false where there is
// nothing. Call it before Run.
func (p *Prompter) Reminds(f func(ctx context.Context, id string) (Reminder, bool)) { p.remind = f }

// reminded looks for what was answered before to the question that is asked, once, beside it.
func (p *Prompter) reminded(ctx context.Context, a *promptState) {
	if a.current == nil || p.remind == nil {
		return
	}
	id := a.current.ID
	p.mu.Lock()
	_, looked := p.reminders[id]
	if !looked {
		p.reminders[id] = Reminder{}
	}
	p.mu.Unlock()
	if looked {
		return
	}
	p.beside.Go(func() {
		if r, is := p.remind(ctx, id); is {
			p.change(func() { p.reminders[id] = r })
		}
	})
}

// found is the reminder of a question; the zero one where there is none.
func (p *Prompter) found(q *Question) Reminder {
	if q == nil {
		return Reminder{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reminders[q.ID]
}

// reminds shows what was found for the question that is asked.
func (a *promptState) reminds(r Reminder) {
	q := a.current
	switch {
	case r.Answer == "":
	case a.form != nil:
		a.form.remind(r)
	case a.reminder != r && !a.waits() && !a.entry.begun():
		a.reminder = r
		a.again(a.wrap(q.reminder(r)))
	}
}

// reminder says how what was answered before is taken.
func (q Question) reminder(r Reminder) string {
	said := CleanLine(r.Answer, 60) + ", " + CleanLine(r.Said, 200)
	if _, is := q.selects(r); q.Guarded() && !is {
		return "You answered before: " + said
	}
	return toRemind + " takes " + said
}

// selects is the option that an answer before names, if it is one whose key selects it.
func (q Question) selects(r Reminder) (option int, is bool) {
	at, err := q.Named(r.Answer)
	if err != nil || len(at) != 1 || q.MustConfirm(at[0]) {
		return 0, false
	}
	return at[0], true
}

// remind shows what was answered before.
func (f *form) remind(r Reminder) {
	if f.reminder != r {
		f.reminder, f.wide = r, 0
	}
}

// takeReminded answers as before. Of a decision it selects the option only, as its key would.
func (f *form) takeReminded() act {
	if !f.q.Guarded() {
		return act{kind: choose, text: f.reminder.Answer}
	}
	if at, is := f.q.selects(f.reminder); is {
		f.choices.click(at)
	}
	return act{}
}

// Remind shows what was answered before to what the form asks.
func (f *Form) Remind(r Reminder) { f.form.remind(r) }
