package terminal

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"claude-supervise/supervisor/questions"
)

// A form is one question on an able terminal, with what the person has done about it so far: it takes keys and pastes,
// and gives the rows to be shown. It knows no terminal, and judges no answer: that is Choose's.
//
// Options stand in a list: arrows move, an option's key selects it, Enter answers, Space marks where several can be
// chosen, typing filters, and what fits no option is sent as the person's own words. Of a decision nothing is selected
// at first, and a command is run by the word run alone. Tab opens a field for own words of many lines, or for the
// reasons of a decision. Where nothing was typed, the keys of the line prompt work here too: ? helps, < goes back, -
// skips.
type form struct {
	q         Question
	canGoBack bool
	canPutOff bool   // another question can be asked first
	canSay    bool   // a message can be written while it is open
	canLeave  bool   // Ctrl-D and Ctrl-C only leave
	editor    string // the name of the person's; empty: it does not work here
	before    string // the answer that was given before; Enter keeps it
	reminder  Reminder
	styles    *styles

	choices  *choices // nil where nothing is offered
	words    textarea.Model
	writing  writing
	decision string   // the label that the words belong to
	began    string   // what the field began with
	why      string   // of one that is denied, while the field is for what is to be done instead
	pastes   []string // what was pasted and is shown in the words as one mark each
	drafts   map[purpose]draft

	note string // why an answer was not taken
	help bool

	reading bool // keys do not count yet
	seen    bool // it is only shown, and has no keys
	scroll  int  // rows of the text above the first that is shown
	most    int  // what scroll may be at the most, as last shown
	begun   bool // it was scrolled to what is changed
	judged  bool // of the evidence as much was on the terminal as a decision needs

	inputAt, inputEnd int // the rows of the input, as last shown

	wide          int // what text and details are laid out for
	text, details []string
	change        int // the row of details at which what is changed begins
	previewed     laidOut
}

// laidOut is the preview of an option as it was last laid out: it can be long, and is drawn at every key.
type laidOut struct {
	option, width int
	brief         bool
	rows          []string // nil: none was laid out
}

// writing is what the field of the form is for.
type writing int

const (
	nothing     writing = iota // the list has the keys
	ownAnswer                  // own words
	reasons                    // of a decision
	alternative                // to what is denied
	declining                  // why there will be no answer
)

// A purpose is what words are written for.
type purpose struct {
	writing  writing
	decision string
}

// A draft is words that were left unsent.
type draft struct {
	text   string
	pastes []string
}

// An act is what a key has led to.
type act struct {
	kind   actKind
	text   string // of choose and decline
	picked []int  // of pick
}

type actKind int

const (
	stay     actKind = iota // shown anew, no more
	choose                  // text is the answer, as a person types it
	pick                    // options of these places are the answer
	keep                    // the answer given before stands
	skip                    // no answer is needed
	decline                 // there will be none
	goBack                  // to the question before
	putOff                  // to the next question first
	putAside                // to write a message first
	edit                    // what is written, in the person's editor first
	leave                   // nothing more is to be asked here
)

func newForm(q Question, canGoBack bool, before string, s *styles) *form {
	f := &form{q: q, canGoBack: canGoBack, before: before, styles: s, words: textarea.New()}
	f.words.ShowLineNumbers = false
	f.words.Prompt = "❯ "
	f.words.SetPromptFunc(2, func(at textarea.PromptInfo) string {
		if at.LineNumber == 0 {
			return "❯ "
		}
		return "  "
	})
	// else it stays scrolled to the row that it had room for when a key came
	f.words.DynamicHeight, f.words.MinHeight = true, 1
	f.words.MaxContentHeight = maxText
	f.words.SetStyles(s.textarea())
	offered := q
	if len(q.Options) == 0 && q.Validate == "yes_no" {
		offered.Options = []Option{{Label: "yes"}, {Label: "no"}}
	}
	if slices.ContainsFunc(offered.Options, func(o Option) bool { return !questions.Blank(o) }) {
		f.choices = newChoices(offered, f.ownAllowed(), before, s)
	} else {
		f.write(ownAnswer, before)
	}
	return f
}

// ownAllowed reports whether other words than the options' can be an answer.
func (f *form) ownAllowed() bool {
	return !f.q.Decides() && f.q.Validate != "choice" && f.q.Validate != "yes_no"
}

// write gives the keys to the field. What was written in it for the same before is there again.
func (f *form) write(what writing, text string) {
	f.writing, f.pastes = what, nil
	f.words.Reset()
	f.words.SetValue(text)
	f.began = f.words.Value() // which shows tabs as it likes
	if kept, is := f.drafts[f.purpose()]; is {
		f.words.SetValue(kept.text)
		f.pastes = kept.pastes
	}
	f.words.Focus()
}

func (f *form) purpose() purpose { return purpose{f.writing, f.decision} }

// writeOwn opens the field for own words. What was typed in the list goes there.
func (f *form) writeOwn() {
	f.keepTyped()
	f.write(ownAnswer, "")
}

// keepTyped makes what was typed in the list a draft of own words, behind what was written before.
func (f *form) keepTyped() {
	typed := f.choices.filter
	f.choices.clear()
	if typed == "" {
		return
	}
	kept := f.drafts[purpose{writing: ownAnswer}]
	kept.text = strings.TrimPrefix(kept.text+" "+typed, " ")
	f.keepDraft(purpose{writing: ownAnswer}, kept)
}

// keepWritten keeps what stands in the field, for when it is opened again.
func (f *form) keepWritten() { f.keepDraft(f.purpose(), draft{f.words.Value(), f.pastes}) }

func (f *form) keepDraft(of purpose, kept draft) {
	if f.drafts == nil {
		f.drafts = map[purpose]draft{}
	}
	f.drafts[of] = kept
	if strings.TrimSpace(kept.text) == "" {
		delete(f.drafts, of)
	}
}

// press takes a key or a paste.
func (f *form) press(msg tea.Msg) act {
	f.note = ""
	if f.help {
		f.help = false
		return act{}
	}
	switch msg := msg.(type) {
	case tooLong:
		f.note = "That was longer than an answer can be, and nothing of it was taken. Put it into a file and name the file."
	case tea.PasteMsg:
		f.paste(msg.Content)
	case tea.KeyPressMsg:
		if what, ok := f.command(msg); ok {
			return what
		}
		what := f.inWords
		if f.writing == nothing {
			what = f.inList
		}
		return f.unlessUnseen(what(msg))
	}
	return act{}
}

// unlessUnseen is what a key has led to, unless that permits something of which nothing was on the terminal.
func (f *form) unlessUnseen(what act) act {
	yes := questions.KindOf(f.q.Kind).Yes
	if f.judged || yes == "" || len(f.details) == 0 {
		return what
	}
	meant := what.picked
	if said := strings.Fields(what.text); what.kind == choose && len(said) > 0 {
		meant = f.q.Readings(strings.TrimRight(said[0], ":,;"))
	}
	if slices.ContainsFunc(meant, func(at int) bool {
		return strings.HasPrefix(questions.Fold(f.q.Options[at].Label), yes)
	}) {
		f.note = "This terminal is too low to show what would be allowed. Make it higher, then press Enter."
		return act{}
	}
	return what
}

// command does what a key asks for that is no part of an answer: all but Ctrl-D and the scrolling need an empty field.
func (f *form) command(msg tea.KeyPressMsg) (act, bool) {
	empty := f.writing == nothing && f.choices.filter == "" || f.writing == ownAnswer && f.words.Length() == 0
	switch key := msg.String(); {
	case key == "pgdown" && f.most > 0:
		f.scroll = min(f.scroll+5, f.most)
	case key == "pgup" && f.most > 0:
		f.scroll = max(f.scroll-5, 0)
	case key == "ctrl+d" && (f.writing == nothing || f.words.Length() == 0):
		return act{kind: leave}, true
	case key == editKey:
		return f.edit(), true
	case key == "shift+tab" && f.canGoBack && f.writing <= ownAnswer:
		return act{kind: goBack}, true
	case !empty:
		return act{}, false
	case key == "?":
		f.help = true
	case (key == "<" || key == "left") && f.canGoBack:
		return act{kind: goBack}, true
	case key == ">" && f.canPutOff:
		return act{kind: putOff}, true
	case key == toRemind && f.reminder.Answer != "":
		return f.unlessUnseen(f.takeReminded()), true
	case key == questions.AsAssumed && f.q.Assumption != "" && f.before == "":
		return act{kind: choose, text: f.q.AcceptedAssumption()}, true
	case key == "esc" && f.canSay:
		return act{kind: putAside}, true
	case key == "-" && f.q.Optional && f.before == "":
		return act{kind: skip}, true
	case key == "!" && f.q.Declinable && f.before == "":
		f.write(declining, "")
	default:
		return act{}, false
	}
	return act{}, true
}

func (f *form) inList(msg tea.KeyPressMsg) act {
	switch key := msg.String(); key {
	case "enter":
		return f.enter()
	case "up", "down", "home", "end", "pgup", "pgdown":
		f.choices.move(msg)
	case "ctrl+p", "ctrl+n":
		f.choices.move(press(map[string]rune{"ctrl+p": tea.KeyUp, "ctrl+n": tea.KeyDown}[key]))
	case "backspace", "ctrl+h":
		f.choices.backspace()
	case "esc":
		if _, found := f.choices.hovered(); !found && f.ownAllowed() {
			f.keepTyped()
		}
		f.choices.clear()
	case "ctrl+u":
		f.choices.clear()
	case "tab":
		f.tab()
	case "space":
		if _, found := f.choices.hovered(); found && f.q.MultiSelect {
			f.choices.keyed = ""
			f.choices.mark()
		} else {
			f.choices.letter(" ")
		}
	case ":":
		if at, ok := f.choices.hovered(); ok && at >= 0 && f.q.TakesNotes() && !f.q.MultiSelect && f.choices.filter == "" {
			f.decide(f.q.Options[at].Label)
		} else {
			f.choices.letter(key)
		}
	default:
		if msg.Text != "" {
			f.choices.letter(msg.Text)
		}
	}
	return act{}
}

// enter chooses what the cursor is on, or sends what is marked, or what was typed where that fits no option.
func (f *form) enter() act {
	at, ok := f.choices.hovered()
	switch {
	case f.q.Confirms(f.choices.filter):
		return act{kind: choose, text: f.choices.filter}
	case !ok:
		return act{kind: choose, text: f.choices.filter}
	case at == noOption:
		f.note = "Nothing is selected: type its number or move to it, then press Enter."
	case at == ownWords:
		f.writeOwn()
	case !f.q.MultiSelect:
		return f.take(at)
	case len(f.choices.picked) > 0:
		return act{kind: pick, picked: slices.Clone(f.choices.picked)}
	default:
		f.note = "Nothing is marked: Space marks, Enter sends all that is marked."
	}
	return act{}
}

// take takes an option as the answer, unless words have to go with it.
func (f *form) take(at int) act {
	label := f.choices.q.Options[at].Label
	switch {
	case f.q.MustConfirm(at):
		f.note = "To run it, type the word run, then press Enter."
		return act{}
	case f.q.Decides() && wantsWords(label):
		f.decide(label)
		return act{}
	case len(f.q.Options) == 0: // yes or no
		return act{kind: choose, text: label}
	}
	return act{kind: pick, picked: []int{at}}
}

// decide opens the field for the words that go with a decision: the task of a delegation that is approved is there to
// be changed.
func (f *form) decide(label string) {
	f.decision = label
	if !f.q.changesTask(label) {
		f.write(reasons, "")
		return
	}
	f.write(reasons, Clean(f.q.Task))
}

// changesTask reports whether the words that go with a decision are another task.
func (q Question) changesTask(label string) bool {
	return questions.KindOf(q.Kind).Hands && strings.HasPrefix(questions.Fold(label), questions.Approve)
}

// wantsWords reports whether a decision is asked for its words: why not, or how much. The others get them by Tab, but
// for the one that takes none.
func wantsWords(label string) bool {
	word := questions.Fold(label)
	return strings.HasPrefix(word, "deny") || strings.HasPrefix(word, "raise")
}

func (f *form) tab() {
	at, ok := f.choices.hovered()
	switch {
	case f.q.Decides() && (!ok || at < 0 || questions.Fold(f.q.Options[at].Label) == "allow"):
	case f.q.Decides():
		f.decide(f.q.Options[at].Label)
	case f.ownAllowed():
		f.writeOwn()
	}
}

// edit opens the field, as Tab does, and asks for the editor.
func (f *form) edit() act {
	if f.writing == nothing {
		f.tab()
	}
	if f.writing == nothing {
		return act{}
	}
	return act{kind: edit}
}

// edited takes what the person has written in the editor, or why there is nothing.
func (f *form) edited(text string, err error) {
	switch {
	case err != nil:
		f.say("Not edited: " + strings.TrimSuffix(CleanLine(err.Error(), 0), ".") + ".")
	case text != f.written():
		f.words.Reset()
		f.pastes = nil
		f.paste(text)
	}
}

func (f *form) inWords(msg tea.KeyPressMsg) act {
	switch key := msg.String(); {
	case key == "alt+enter" || key == "shift+enter" || key == "ctrl+j":
		f.words.InsertRune('\n')
	case key == "enter" && strings.HasSuffix(f.words.Value(), `\`):
		f.words, _ = f.words.Update(press(tea.KeyBackspace))
		f.words.InsertRune('\n')
	case key == "enter":
		return f.send()
	case (key == "tab" || key == "esc") && f.canLeaveWords():
		f.keepWritten()
		f.writing, f.decision = nothing, ""
		if f.choices == nil {
			f.write(ownAnswer, "")
		}
	case key == "tab" || key == "ctrl+v": // a tab is no part of a line here; the clipboard is the terminal's to paste
	default:
		f.words, _ = f.words.Update(msg)
	}
	return act{}
}

func (f *form) canLeaveWords() bool { return f.choices != nil || f.writing == declining }

// send returns what was written.
func (f *form) send() act {
	text := f.written()
	switch {
	case f.writing == declining:
		return act{kind: decline, text: strings.TrimSpace(Clean(text))}
	case f.writing == reasons && f.q.changesTask(f.decision) && text == f.began:
		return act{kind: choose, text: f.decision}
	case f.writing == reasons && f.q.Instead != "" && wantsWords(f.decision) && strings.TrimSpace(text) != "" &&
		!strings.Contains(text, f.q.Instead):
		f.keepWritten()
		f.why = text
		f.write(alternative, "")
		return act{}
	case f.writing == reasons && f.q.TakesNotes() && strings.TrimSpace(text) == "":
		return act{kind: choose, text: quotes + f.decision + quotes}
	case f.writing == reasons && f.q.TakesNotes():
		return act{kind: choose, text: quotes + questions.Note(f.decision, text) + quotes}
	case f.writing == reasons:
		return act{kind: choose, text: f.decision + " " + text}
	case f.writing == alternative && strings.TrimSpace(text) == "":
		return act{kind: choose, text: f.decision + " " + f.why}
	case f.writing == alternative:
		return act{kind: choose, text: f.decision + " " + f.why + " " + f.q.Instead + " " + text}
	case f.before != "" && text == f.before:
		return act{kind: keep}
	case f.choices != nil && f.q.Validate == "" && strings.TrimSpace(text) != "":
		return act{kind: choose, text: quotes + text + quotes} // written where options are not: it is none
	}
	return act{kind: choose, text: text}
}

// written is what was written, with what was pasted.
func (f *form) written() string { return draft{f.words.Value(), f.pastes}.whole() }

// whole is the text, with what was pasted.
func (d draft) whole() string {
	var marks []string
	for i, paste := range d.pastes {
		marks = append(marks, pasteMark(i, paste), paste)
	}
	return strings.NewReplacer(marks...).Replace(d.text)
}

// longPaste is how many lines of a paste are shown as they are.
const longPaste = 12

// paste takes a paste as it is. A long one is shown as one mark, and so is one with tabs, which a field would change.
func (f *form) paste(text string) {
	if len(f.written())+len(text) > maxText {
		f.press(tooLong{})
		return
	}
	oneLine := !strings.ContainsAny(text, "\n\t")
	if f.writing == nothing {
		if !f.ownAllowed() || oneLine && len(text) < maxFilter {
			f.choices.typed(CleanLine(text, 0))
			return
		}
		f.writeOwn()
	}
	if strings.Contains(text, "\t") || strings.Count(text, "\n") >= longPaste || len(text) > 80*longPaste {
		f.pastes = append(f.pastes, text)
		text = pasteMark(len(f.pastes)-1, text)
	}
	f.words.InsertString(text)
}

// pasteMark stands for a paste in the words.
func pasteMark(at int, text string) string {
	lines := fmt.Sprintf("%d lines", strings.Count(text, "\n")+1)
	if lines == "1 lines" {
		lines = fmt.Sprintf("%d characters", len([]rune(text)))
	}
	return fmt.Sprintf("[paste %d: %s, %s]", at+1, lines, questions.Show(text))
}

// say tells the person why the answer was not taken.
func (f *form) say(note string) { f.note = note }
