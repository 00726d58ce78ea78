package terminal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"claude-supervise/supervisor/questions"
)

// A Reply is what a person does with a question.
type Reply struct {
	Text    string // the answer as Choose gave it; empty: the question is skipped
	Change  bool   // it replaces an answer that was given before
	Decline bool   // the person will not answer; Text is why, and may be empty
}

// Submit hands over the reply to a question. It may block for as long as saving takes. Its error is read by the person:
// why the reply was refused or came too late.
type Submit func(ctx context.Context, id string, r Reply) error

// promptState is the conversation with the person: which question is asked, what was typed so far, what was answered.
// It belongs to the goroutine of Run; it writes to the Printer and reads nothing. It is the same on every terminal: a
// question is asked as lines of text and answered by lines, or, with styles, as a form.
type promptState struct {
	out    *Printer
	submit Submit
	dir    string
	rest   func() // gives the terminal back as it was, so that lines can be typed
	drafts Drafts
	editor editor

	halfLine func() string // takes what was typed of a line, and not sent, from the terminal

	open     []Question                    // as last told
	current  *Question                     // its prompt is open
	earlier  int                           // when current is one that was answered before: its place in given plus 1
	entry    entry                         // what was typed of the answer
	drawn    bool                          // current was drawn, and its grace has not begun
	grace    grace                         // of current
	styles   *styles                       // what forms look like; nil: lines are asked and read
	form     *form                         // of current
	kept     map[string]*form              // that were open when something else was done, by their questions
	saved    []savedDraft                  // of current, as they are on disk
	reminder Reminder                      // of current, in lines
	later    []string                      // the ids of those that were put off, in that order
	given    map[string][]answer           // by group, in the order of answering
	answered map[string]bool               // open as last told, but answered here
	told     map[string]bool               // was shown to the person
	say      func(context.Context, string) // takes messages; nil: nobody does
	hint     string                        // stands above the line for messages; empty: see Hint
	to       Addressee                     // of messages
	draft    *typing                       // of a message; nil: none was begun
	message  string                        // as it is on disk, where forms are drawn
	recalled bool                          // what was typed of a message before was told, in lines
	aside    bool                          // a message is written while questions are open
	left     func()                        // Ctrl-D leaves by it; nil: it only ends asking
	paused   bool                          // the person ended asking with Ctrl-D; Enter begins again
	deaf     bool                          // nothing can be read any more
	silent   bool                          // what stays open in the end is told by others
	marks    bool                          // the terminal may be marked; see Marks
	marked   bool                          // and is
}

type answer struct {
	question Question
	text     string
}

func newPromptState(out *Printer, submit Submit, dir string, looks *styles) *promptState {
	return &promptState{out: out, submit: submit, dir: dir, rest: func() {}, styles: looks,
		halfLine: func() string { return "" },
		given:    map[string][]answer{}, answered: map[string]bool{}, told: map[string]bool{}, kept: map[string]*form{}}
}

// update takes the list of open questions and says which of those that the person knows are gone, and why. It reports
// whether the open prompt was withdrawn; what was typed for it is then to be thrown away.
func (a *promptState) update(open []Question, gone map[string]string) (withdrawn bool) {
	still := make(map[string]bool, len(open))
	groups := map[string]bool{}
	for _, q := range open {
		still[q.ID] = true
		if !a.answered[q.ID] {
			groups[q.Group] = true
		}
	}
	if q := a.current; q != nil {
		withdrawn = !still[q.ID] && a.earlier == 0 || a.earlier > 0 && !groups[q.Group]
		if withdrawn {
			a.withdraw(*q, gone[q.ID])
		}
	}
	for _, q := range a.open {
		if why := gone[q.ID]; !still[q.ID] && a.told[q.ID] && !a.answered[q.ID] && why != "" {
			a.out.Notice(fmt.Sprintf("[%s] %s", name(q), CleanLine(why, 0)))
		}
	}
	forget := func(known map[string]bool) {
		for id := range known {
			if !still[id] {
				delete(known, id)
			}
		}
	}
	forget(a.answered)
	forget(a.told)
	for _, q := range a.open {
		if still[q.ID] {
			continue
		}
		a.drafts.keep(q, nil)
		if f := a.kept[q.ID]; f != nil {
			a.tellNotSent(f.unsent())
		}
	}
	maps.DeleteFunc(a.kept, func(id string, _ *form) bool { return !still[id] })
	a.later = slices.DeleteFunc(a.later, func(id string) bool { return !still[id] || a.answered[id] })
	for group := range a.given {
		if !groups[group] {
			delete(a.given, group)
		}
	}
	a.open = open
	a.aside = a.aside && a.waiting()
	return withdrawn
}

func (a *promptState) withdraw(q Question, why string) {
	if a.earlier > 0 {
		why = "its answer can no longer be changed"
	} else if why == "" {
		why = "it is no longer asked"
	}
	drafts := a.unsent()
	a.close("\n" + a.record(q, CleanLine(why, 0)) + a.notSent(drafts))
	delete(a.told, q.ID) // said already
}

// show asks the first question that has no answer and was not put off, if none is being asked; when nobody can be
// asked, it shows every question once with the command that answers it.
func (a *promptState) show(listening bool) {
	if a.current != nil {
		return
	}
	asks := listening && !a.paused && !a.aside
	if asks && !slices.ContainsFunc(a.open, func(q Question) bool { return !a.answered[q.ID] && !a.isLater(q) }) {
		a.later = nil // from the first on again
	}
	for _, q := range a.open {
		switch {
		case a.answered[q.ID], asks && a.isLater(q):
		case asks:
			a.dropLine(" (" + toSendDraft + " sends it once nothing is asked)")
			a.ask(q, 0)
			return
		case !a.told[q.ID]:
			a.told[q.ID] = true
			a.out.Notice("\n" + Render(q, a.out.Columns(), time.Now()))
		}
	}
}

// ask draws a question. In lines its prompt comes once its grace is over.
func (a *promptState) ask(q Question, earlier int) {
	a.current, a.earlier, a.entry, a.drawn = &q, earlier, entry{}, true
	a.told[q.ID] = true
	if a.styles != nil {
		a.openForm()
		return
	}
	width := a.out.Columns()
	text := "\n" + render(q, width, time.Now(), maxShown, maxLines, a.out.bold)
	below := hint(q, a.canGoBack(), a.canPutOff(), width) + wrap(elsewhere(q), "", width)
	text += a.out.faint(strings.TrimSuffix(below, "\n")) + "\n"
	if typed := CleanLine(whole(a.restoreDraft()), 200); typed != "" {
		text += a.wrap(typedBefore(typed))
	}
	if earlier > 0 {
		text += a.wrap("Your answer was " + questions.Show(a.given[q.Group][earlier-1].text) + ". Enter keeps it.")
	}
	a.out.ask(text, "")
}

// begin begins the grace of the current question: it is drawn, and all that was typed until then was dropped.
func (a *promptState) begin(now time.Time) {
	a.drawn = false
	a.grace.begin(now)
}

// waits reports whether a question stands whose keys do not count yet.
func (a *promptState) waits() bool { return a.current != nil && (a.drawn || a.grace.on()) }

// prompt opens the prompt of the current question, in lines.
func (a *promptState) prompt() { a.out.ask("", name(*a.current)+"> ") }

// again opens the prompt of the current question once more, below a text.
func (a *promptState) again(text string) {
	if a.form != nil {
		a.form.say(strings.TrimSpace(text))
		return
	}
	a.entry = entry{}
	a.out.ask(text, name(*a.current)+"> ")
}

// pause closes an open prompt because nobody can be asked now. The question stays open.
func (a *promptState) pause() {
	if a.current != nil {
		a.keep()
		a.close("\n" + a.stays(*a.current))
	}
}

// keep keeps the open form as it is, for when its question is asked again.
func (a *promptState) keep() {
	if a.form != nil {
		a.kept[a.current.ID] = a.form
	}
}

func (a *promptState) isLater(q Question) bool { return slices.Contains(a.later, q.ID) }

// canPutOff reports whether another question, that was not asked with the current one, can be asked first.
func (a *promptState) canPutOff() bool {
	return a.current != nil && a.earlier == 0 && slices.ContainsFunc(a.open, func(q Question) bool {
		return q.ID != a.current.ID && !a.answered[q.ID] && (q.Group == "" || q.Group != a.current.Group)
	})
}

// putOff asks the next question first.
func (a *promptState) putOff() {
	if !a.canPutOff() {
		a.again("No other question is open.\n")
		return
	}
	a.keep()
	a.later = append(a.later, a.current.ID)
	text := ""
	if a.form == nil {
		text = a.wrap("[" + name(*a.current) + "] later")
	}
	a.close(text)
}

// close ends the open prompt with a last text.
func (a *promptState) close(text string) {
	a.current, a.earlier, a.entry, a.form, a.drawn, a.grace = nil, 0, entry{}, nil, false, grace{}
	a.reminder = Reminder{}
	a.out.answered(text)
}

// typed takes what arrived from the terminal.
func (a *promptState) typed(ctx context.Context, got arrival) {
	switch {
	case got.tooLong && a.current != nil:
		a.tooLong()
	case got.tooLong:
		a.out.Notice(tooMuch)
	case len(got.lines) == 0:
	case a.current == nil:
		a.paused = false
		if !a.waiting() { // else it may have been meant for one that is shown
			a.sayLines(ctx, strings.Join(got.lines, "\n"))
		}
	default:
		a.line(ctx, got.lines)
	}
	if got.ended {
		a.end()
	}
}

func (a *promptState) line(ctx context.Context, batch []string) {
	begun := a.entry.begun()
	text, done := a.entry.add(batch)
	switch {
	case a.entry.size > maxText:
		a.tooLong()
	case !done && begun:
		a.saveDraft()
		a.out.ask("", "... ")
	case !done:
		a.saveDraft()
		a.out.ask(a.gathering(), "... ")
	case begun || strings.Contains(text, "\n"):
		a.choose(ctx, text)
	default:
		a.command(ctx, text)
	}
}

func (a *promptState) tooLong() {
	a.again(
		a.wrap(
			"That was longer than this terminal can take, and nothing was sent. Break it into shorter lines, or put it into a " +
				"file and name the file."))
}

func (a *promptState) gathering() string {
	switch a.entry.mode {
	case pasted:
		return a.wrap(fmt.Sprintf("(%d lines came together: they are one answer. An empty line sends it, Ctrl-D drops it.)",
			len(a.entry.lines)))
	case quoted:
		return a.wrap(`(""" at the end of a line sends it, Ctrl-D drops it.)`)
	}
	return ""
}

// command does what a single line asks for; most are answers.
func (a *promptState) command(ctx context.Context, text string) {
	q := *a.current
	switch strings.TrimSpace(text) {
	case "":
		if a.earlier > 0 {
			a.close("") // the earlier answer is kept; show asks the open question again
			return
		}
		a.ask(q, 0)
	case "?":
		a.again(help(q, a.canGoBack(), a.canPutOff(), a.editor.named(q), a.out.Columns()))
	case toEditor:
		a.edit(ctx)
	case toSendDraft:
		if len(a.saved) == 0 {
			a.again("Nothing that was typed before is kept.\n")
			return
		}
		a.choose(ctx, whole(a.saved))
	case "<":
		a.back()
	case ">":
		a.putOff()
	case toRemind:
		if a.reminder.Answer == "" || q.Guarded() {
			a.choose(ctx, text)
			return
		}
		a.choose(ctx, a.reminder.Answer)
	case "-":
		if q.Optional && a.earlier == 0 {
			a.send(ctx, Reply{}, "answered: skipped")
			return
		}
		a.choose(ctx, text)
	default:
		if strings.HasPrefix(strings.TrimSpace(text), toSay) && a.say != nil {
			a.sendMessage(ctx, text)
			a.again("")
			return
		}
		if why, ok := strings.CutPrefix(strings.TrimSpace(text), "!"); ok && q.Declinable && a.earlier == 0 {
			a.decline(ctx, strings.TrimSpace(Clean(why)))
			return
		}
		// b is the second option where there is one, or the start of a label; else it goes back.
		if strings.EqualFold(strings.TrimSpace(text), "b") && len(q.Options) < 2 && len(q.Readings("b")) == 0 &&
			a.canGoBack() {
			a.back()
			return
		}
		a.choose(ctx, text)
	}
}

// edit has the person write on in their editor at what they typed before, in lines. What comes of it is kept as that.
func (a *promptState) edit(ctx context.Context) {
	text, err := a.editor.write(ctx, *a.current, whole(a.saved))
	if err != nil {
		a.again(a.wrap("Not edited: " + strings.TrimSuffix(CleanLine(err.Error(), 0), ".") + "."))
		return
	}
	if a.saved = asDraft(text); a.earlier == 0 {
		a.drafts.keep(*a.current, a.saved)
	}
	if text == "" {
		a.again("")
		return
	}
	a.again(a.wrap("You wrote: " + CleanLine(text, 200) + " (" + toSendDraft + " sends it, " + toEditor + " goes on)"))
}

// place is where paths in the answer to the current question begin.
func (a *promptState) place() questions.Place { return OnDisk(cmp.Or(a.current.Folder, a.dir)) }

func (a *promptState) choose(ctx context.Context, text string) {
	chosen, err := a.current.Choose(text, a.place())
	if err != nil {
		a.again(a.wrap("Not taken: " + err.Error() + "."))
		return
	}
	a.answer(ctx, chosen)
}

func (a *promptState) answer(ctx context.Context, chosen string) {
	said := "answered: " + CleanLine(chosen, 200)
	if beside := a.current.Beside(chosen); beside != "" {
		said += " (" + beside + ")"
	}
	a.send(ctx, Reply{Text: chosen, Change: a.earlier > 0}, said)
}

func (a *promptState) decline(ctx context.Context, why string) {
	said := "declined"
	if why != "" {
		said += ": " + CleanLine(why, 200)
	}
	a.send(ctx, Reply{Text: why, Decline: true}, said)
}

// send hands the reply over. Only when that has succeeded it counts as given.
func (a *promptState) send(ctx context.Context, r Reply, said string) {
	q, earlier := *a.current, a.earlier
	if err := a.submit(ctx, q.ID, r); err != nil {
		a.again(a.wrap("Not taken: " + CleanLine(err.Error(), 0)))
		return
	}
	switch {
	case earlier > 0:
		a.given[q.Group][earlier-1].text = r.Text
	case q.Group != "" && !r.Decline:
		a.given[q.Group] = append(a.given[q.Group], answer{q, r.Text})
	}
	if earlier == 0 {
		a.answered[q.ID] = true
		a.drafts.keep(q, nil)
	}
	a.close(a.record(q, said))
}

// record is what stays on the terminal of a question that is no longer asked. A form is gone then, so it says what was
// asked.
func (a *promptState) record(q Question, what string) string {
	if a.styles == nil {
		return a.wrap(fmt.Sprintf("[%s] %s", name(q), what))
	}
	if c := what[0]; 'a' <= c && c <= 'z' {
		what = strings.ToUpper(what[:1]) + what[1:]
	}
	return a.wrap(fmt.Sprintf("[%s] %s", name(q), CleanLine(q.Text, 200))) + wrap(what, "  ", a.out.Columns()) + "\n"
}

func (a *promptState) canGoBack() bool {
	if a.current == nil {
		return false
	}
	return a.earlier > 1 || a.earlier == 0 && (len(a.given[a.current.Group]) > 0 || len(a.later) > 0)
}

func (a *promptState) back() {
	if !a.canGoBack() {
		a.again("There is no earlier question to go back to.\n")
		return
	}
	at := a.earlier - 1
	if a.earlier == 0 {
		at = len(a.given[a.current.Group])
	}
	a.keep()
	if at == 0 { // none of its own group: the one that was put off last
		last := len(a.later) - 1
		i := slices.IndexFunc(a.open, func(q Question) bool { return q.ID == a.later[last] })
		a.later = a.later[:last]
		a.ask(a.open[i], 0)
		return
	}
	a.ask(a.given[a.current.Group][at-1].question, at)
}

// end is Ctrl-D: it drops a half typed answer, else it ends asking, else nobody is there.
func (a *promptState) end() {
	switch {
	case a.left != nil && !a.entry.begun():
		a.left()
	case a.current == nil && a.say != nil && !a.paused && !a.waiting():
		a.paused = true
		a.out.Notice("Nothing more is asked here until you press Enter.")
	case a.current == nil:
		a.deaf = true
		a.out.Notice("Nothing more is read here.")
	case a.entry.begun():
		a.again("\nDropped; nothing was sent.\n")
	default:
		text := "\n"
		for _, q := range a.open {
			if !a.answered[q.ID] {
				a.told[q.ID] = true
				text += a.stays(q)
			}
		}
		a.paused = true
		a.keep()
		a.rest() // before it is said that Enter is enough
		a.close(text + "Nothing more is asked here until you press Enter.\n")
	}
}

func (a *promptState) stays(q Question) string {
	if q.Command == "" {
		return a.wrap(fmt.Sprintf("[%s] stays open.", name(q)))
	}
	return a.wrap(fmt.Sprintf("[%s] stays open. Answer it with: %s", name(q), CleanLine(q.Command, 0)))
}

// listens reports whether something typed now would be for us.
func (a *promptState) listens() bool {
	return !a.deaf && (a.current != nil || a.say != nil || a.paused && a.waiting())
}

// waiting reports whether a question has no answer.
func (a *promptState) waiting() bool {
	return slices.ContainsFunc(a.open, func(q Question) bool { return !a.answered[q.ID] })
}

func (a *promptState) wrap(text string) string { return wrap(text, "", a.out.Columns()) + "\n" }
