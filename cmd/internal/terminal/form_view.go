package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// narrowestForm is the width below which a form is not laid out any more, but cut.
const narrowestForm = 20

// lowForm is the height below which there is no room for evidence.
const lowForm = 12

// view returns the form as rows of at most width cells, of which there are at most height. On a low terminal there is
// always the input, a row of the question, and what went wrong; what more there is has to be scrolled or asked for by
// ?. more is how many other questions wait.
func (f *form) view(width, height, more int, now time.Time) []string {
	width, height = max(min(width, 80), narrowestForm), max(height, 1)
	head := f.head(width, more, now)
	f.inputAt, f.inputEnd = 0, 0
	if f.help {
		rows := append(head, strings.Split(strings.TrimRight(f.helpText(width), "\n"), "\n")...)
		return clip(rows, height)
	}
	note, foot := f.paint(f.styles.alarm, f.note, width), f.paint(f.styles.faint, f.keys(width), width)
	want := f.wants(width, func(want int) bool {
		question, details, _ := f.question(width)
		return len(head)+len(question)+len(details)+want+len(note)+len(foot)+4 <= height
	})
	question, details, preview := f.question(width)

	room := height
	take := func(want int) int { // rows that are given away
		got := max(min(want, room), 0)
		room -= got
		return got
	}
	input := take(min(want, 3))
	note = clip(note, take(min(len(note), max(height/4, 3))))
	asked := take(1)
	titled := take(1)
	hinted := take(min(len(foot), 1))
	shown := 0
	if questions.KindOf(f.q.Kind).Yes != "" {
		shown = take(min(len(details), 2))
	}
	asked += take(min(len(question), 4) - asked)
	input += take(min(want, height/2) - input)
	if height < lowForm { // who asks, and no evidence of which not a row is seen
		titled += take(len(head) - titled)
	}
	shown += take(min(len(details)+len(question)-asked, 3) - shown)
	titled += take(len(head) - titled)
	hinted += take(len(foot) - hinted)
	if len(question)-asked <= room+shown {
		asked += take(len(question) - asked)
	}
	// what of the question has no room is scrolled with what else is to be read
	change := len(question) - asked + f.change
	details = slices.Concat(question[asked:], details)
	shown += take(min(len(details)-shown, room/2))
	input += take(want - input)
	shown += take(len(details) - shown)
	previewed := take(len(preview))
	air := func() []string { return []string{""}[:take(1)] }

	rows := append(air(), head[:titled]...)
	rows = append(append(rows, air()...), question[:asked]...)
	rows = append(rows, f.scrolled(details, shown, change)...)
	rows = append(rows, air()...)
	f.inputAt = len(rows)
	rows = append(rows, f.input(width, input)...)
	f.inputEnd = len(rows)
	rows = append(rows, clip(preview, previewed)...)
	rows = append(rows, note...)
	if hinted < len(foot) && !f.reading {
		foot, hinted = []string{f.styles.faint.Render(CleanLine("Enter · ? help", width))}, min(hinted, 1)
	}
	return append(append(rows, air()...), foot[:hinted]...)
}

// clip returns the first rows of what is too long, and says in the last of them how many more there are.
func clip(rows []string, most int) []string {
	if len(rows) <= most || most == 0 {
		return rows[:min(len(rows), most)]
	}
	return append(rows[:most-1:most-1], fmt.Sprintf("… (+%d rows)", len(rows)-most+1))
}

// paint wraps a text of ours and gives each row its look.
func (f *form) paint(look lipgloss.Style, text string, width int) []string {
	if text == "" {
		return nil
	}
	rows := strings.Split(wrap(Clean(text), "", width), "\n")
	for i, row := range rows {
		rows[i] = look.Render(row)
	}
	return rows
}

// head says what sort of question this is, who asks, how many there are, and where it can be answered too.
func (f *form) head(width, more int, now time.Time) []string {
	q := f.q
	parts := []string{heading(q)}
	if q.Of > 1 {
		parts = append(parts, fmt.Sprintf("question %d of %d", q.Index+1, q.Of))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more wait", more))
	}
	mark, look := "? ", f.styles.accent
	if q.Urgent {
		mark, look = "! ", f.styles.alarm
		parts = append([]string{"URGENT"}, parts...)
	}
	line := func(look lipgloss.Style, text string) string { return look.Render(ansi.Truncate(text, width, "…")) }
	rows := []string{line(look, mark+strings.Join(parts, " · "))}
	about := "[" + name(q) + "]" + whence(q, now)
	if asker := CleanLine(q.Asker, 400); asker != "" {
		rows = append(rows, line(f.styles.faint, "for "+asker))
	}
	return append(rows, line(f.styles.faint, about))
}

// question returns what is asked, its context with what may be answered, and what the option under the cursor comes to.
func (f *form) question(width int) (text, details, preview []string) {
	if f.wide != width { // a diff can be long, and is not laid out for every key
		f.wide, f.details = width, nil
		f.text = f.q.rows(f.q.Text, "", width)
		for i, row := range f.text {
			f.text[i] = f.styles.title.Render(row)
		}
		if f.reminder.Answer != "" {
			f.text = append(f.text, f.paint(f.styles.faint, f.q.reminder(f.reminder), width)...)
		}
		switch {
		case strings.TrimSpace(f.q.Seen(f.q.Context)) == "":
		case questions.KindOf(f.q.Kind).Ruled:
			f.details, f.change = f.q.change(f.q.Context, "  ", width, f.styles)
		default:
			context, _ := checklist(f.q)
			f.details = f.q.rows(context, "  ", width)
		}
		if rule := f.q.Rule(); rule != "" && f.q.Validate != "yes_no" {
			f.details = append(f.details, f.paint(f.styles.faint, "The answer is "+rule+".", width)...)
		}
		if f.before != "" {
			f.details = append(f.details,
				f.paint(f.styles.faint, "Your answer was "+questions.Show(f.before)+". Enter keeps it.", width)...)
		}
	}
	return f.text, f.details, f.preview(width)
}

// scrolled returns as many of the rows as there is room for, from where the person has scrolled to, and says what is
// not seen on both sides. At first that is from the row at which what is changed begins.
func (f *form) scrolled(rows []string, room, change int) []string {
	if len(rows) <= room || room < 2 {
		f.scroll, f.most = 0, 0
		f.judged = f.judged || len(rows) <= room
		return rows[:min(len(rows), room)]
	}
	f.most = len(rows) - (room - 1)
	if !f.begun {
		f.begun, f.scroll = true, change
	}
	f.scroll = min(f.scroll, f.most)
	end := f.scroll + room - 1
	f.judged = f.judged || end > change
	above, below := text.Plural(f.scroll, "row", "rows"), text.Plural(len(rows)-end, "row", "rows")
	left := fmt.Sprintf("  … %d above · %s below · PgUp PgDn", f.scroll, below)
	switch {
	case f.scroll == 0:
		left = fmt.Sprintf("  … %s below · PgDn", below)
	case end == len(rows):
		left = fmt.Sprintf("  … %s above · PgUp", above)
	}
	return append(rows[f.scroll:end:end], f.styles.faint.Render(left))
}

// preview shows what the option under the cursor comes to, as its agent gave it.
func (f *form) preview(width int) []string {
	if f.writing != nothing {
		return nil
	}
	at, ok := f.choices.hovered()
	if !ok || at < 0 {
		return nil
	}
	if last := f.previewed; last.rows == nil || last.option != at || last.width != width || last.brief != f.choices.brief {
		f.previewed = laidOut{at, width, f.choices.brief, f.layPreview(f.choices.q.Options[at], width)}
	}
	return f.previewed.rows
}

func (f *form) layPreview(option Option, width int) []string {
	text := strings.Trim(Clean(option.Preview), "\n")
	// not all of it stands in the list
	if f.choices.brief || strings.Contains(optionText(option, "", width-2), "\n  …") {
		text = strings.TrimRight(CleanLine(option.Description, 0)+"\n"+text, "\n")
	}
	if strings.TrimSpace(text) == "" {
		return []string{}
	}
	rows := strings.Split(wrap(text, "", width-2), "\n")
	if len(rows) > maxLines {
		rows = append(rows[:maxLines],
			fmt.Sprintf("(%d more lines: claude-supervise show %s)", len(rows)-maxLines, name(f.q)))
	}
	for i, row := range rows {
		rows[i] = f.styles.faint.Render("│ ") + row
	}
	return rows
}

// wants is how many rows the input would take. Where they do not fit, options stand without their descriptions: what
// the cursor is on is described below the list.
func (f *form) wants(width int, fits func(want int) bool) int {
	if f.writing == nothing {
		// what is typed is looked for in descriptions, too
		rows := f.choices.lay(width, f.choices.filter == "" && !fits(f.choices.described(width)))
		if _, ok := f.choices.hovered(); !ok {
			rows = 2
		}
		return rows
	}
	f.words.SetWidth(width)
	rows := 1
	for line := range strings.SplitSeq(f.words.Value(), "\n") {
		rows += 1 + ansi.StringWidth(line)/max(width-2, 1)
	}
	if f.label() == "" {
		rows--
	}
	return min(rows, 2*longPaste)
}

func (f *form) input(width, height int) []string {
	if f.writing == nothing {
		rows := f.choices.view(height)
		if _, ok := f.choices.hovered(); !ok {
			rows = append(rows[:1], f.paint(f.styles.faint, f.unmatched(), width)...)
		}
		return rows[:min(len(rows), height)]
	}
	var rows []string
	if label := f.label(); label != "" && height > 1 {
		rows = append(rows, f.styles.title.Render(ansi.Truncate(label, width, "…")))
	}
	f.words.MaxHeight = max(height-len(rows), 1)
	f.words.SetWidth(width)
	for row := range strings.SplitSeq(f.words.View(), "\n") {
		rows = append(rows, trimRight(row))
	}
	return rows
}

func (f *form) unmatched() string {
	if at := f.q.Near(f.choices.filter); at >= 0 && f.ownAllowed() {
		return fmt.Sprintf("Option %d is %s. Enter sends what you have typed as your own words.", at+1,
			questions.Show(f.q.Options[at].Label))
	}
	if f.ownAllowed() {
		return "None of the options: Enter sends it as your own words."
	}
	return "None of the options; Esc shows all again."
}

// label says what the field is for, where that is not plain.
func (f *form) label() string {
	switch {
	case f.writing == declining:
		return "Why will there be no answer? (the agent reads it)"
	case f.writing == alternative:
		return "And what is the agent to do instead? (Enter alone: it continues with its own task)"
	case f.writing == reasons && f.q.changesTask(f.decision):
		return CleanLine(f.decision, 40) + ", with the task as you change it:"
	case f.writing == reasons && f.q.Instead != "" && wantsWords(f.decision):
		return CleanLine(f.decision, 40) + ": why? (the agent reads it)"
	case f.writing == reasons && strings.HasPrefix(questions.Fold(f.decision), "raise"):
		return CleanLine(f.decision, 40) + ": to how much?"
	case f.writing == reasons && wantsWords(f.decision):
		return CleanLine(f.decision, 40) + ": why? (the agent reads it; Enter alone gives no reason)"
	case f.writing == reasons:
		return CleanLine(f.decision, 40) + ": what is to be said with it?"
	case f.choices != nil:
		return "In your own words"
	}
	return ""
}

// keys says in a row or two of at most width cells what the keys do here. No row breaks within what one key does.
func (f *form) keys(width int) string {
	var say []string
	switch {
	case f.seen:
		return ""
	case f.reading:
		return "a moment…"
	case f.writing != nothing && f.canLeaveWords():
		say = []string{"Enter sends", "Alt-Enter new line", "Esc back"}
	case f.writing != nothing:
		say = []string{"Enter sends", "Alt-Enter new line"}
	case f.q.MultiSelect:
		say = []string{"Space marks", "Enter sends", "type to filter"}
	case questions.KindOf(f.q.Kind).Runs:
		say = []string{"type run to run it", "2 leaves it", "Enter answers"}
	default:
		say = []string{"↑↓ Enter choose", "type to filter"}
	}
	if f.writing == nothing && f.choices.many() {
		say[len(say)-1] = fmt.Sprintf("type to find the other %d", len(f.choices.q.Options)-maxShown)
	}
	switch {
	case f.writing != nothing:
	case f.ownAllowed() && f.drafts[purpose{writing: ownAnswer}].text != "":
		say = append(say, "Tab your draft")
	case f.ownAllowed():
		say = append(say, "Tab own words")
	case f.q.Task != "":
		say = append(say, "Tab on approve changes the task")
	}
	switch {
	case f.canGoBack && f.writing == ownAnswer && f.words.Length() > 0:
		say = append(say, "Shift-Tab back")
	case f.canGoBack && f.writing <= ownAnswer:
		say = append(say, "< back")
	}
	if f.canPutOff {
		say = append(say, "> next")
	}
	if f.q.Assumption != "" && f.before == "" {
		say = append(say, questions.AsAssumed+" as assumed")
	}
	if f.q.Optional && f.before == "" {
		say = append(say, "- skip")
	}
	text, row := "", ""
	for _, key := range append(say, "? help") {
		switch longer := row + " · " + key; {
		case row == "":
			row = key
		case ansi.StringWidth(longer) <= width:
			row = longer
		default:
			text, row = text+row+"\n", key
		}
	}
	return text + row
}

// helpText is what ? shows, until the next key.
func (f *form) helpText(width int) string {
	var b strings.Builder
	say := func(keys, text string) {
		const column = 14
		keys = fmt.Sprintf("  %-*s", column-2, keys)
		if width < 2*column {
			b.WriteString(keys + "\n" + wrap(text, "    ", width) + "\n")
			return
		}
		b.WriteString(hang(keys, text, width) + "\n")
	}
	if _, list := checklist(f.q); list != "" { // what ? is for, there
		b.WriteString(wrap(Clean(list), "", width) + "\n\n")
	}
	if f.choices != nil {
		if f.q.MultiSelect {
			say("Space, 1, b", "marks an option, or takes the mark away")
			say("Enter", "sends all that are marked")
		} else {
			say("Up, Down", "move; Enter chooses")
			say("2, b", "the key shown before an option selects it; Enter answers")
		}
		own := f.ownAllowed()
		letters, back := "show only the options that hold them", "shows all options again"
		if own {
			letters += "; what none holds is sent as your own words"
			back += "; words that you have written are kept, and Tab brings them back"
		}
		say("letters", letters)
		say("Esc", back)
		switch {
		case own:
			say("Tab", "your own words, over as many lines as you like")
		case f.q.Decides():
			say("Tab", "words that go with the decision")
		}
		if f.q.TakesNotes() && !f.q.MultiSelect {
			say(":", "a note with the option that is selected")
		}
	}
	if f.choices == nil || f.ownAllowed() || f.q.Decides() {
		say("Alt-Enter", `a new line, as does Ctrl-J, and a \ before Enter`)
		if f.editor != "" {
			say("Ctrl-G", "writes it in your editor, "+f.editor)
		}
	}
	if f.most > 0 {
		say("PgUp, PgDn", "scroll what is asked")
	}
	if f.canGoBack {
		say("<", "back to the question before, to change its answer; Shift-Tab where something was typed")
	}
	if f.reminder.Answer != "" {
		say(toRemind, "the answer that you gave before to what is like it")
	}
	if f.canPutOff {
		say(">", "the next question first; this one stays open")
	}
	if f.q.Assumption != "" {
		say(questions.AsAssumed, "accepts what the agent has assumed")
	}
	if f.q.Optional {
		say("-", "continues without an answer")
	}
	if f.q.Declinable {
		say("!", "says that there will be no answer, and why")
	}
	if f.canSay {
		say("Esc", "where nothing was typed: writes a message to the agent first")
	}
	if f.canLeave {
		say("Ctrl-D", "leaves; questions stay open")
	} else {
		say("Ctrl-D", "stops asking here; questions stay open")
		say("Ctrl-C", "leaves the run; all is saved")
	}
	say("any key", "back to the question")
	b.WriteString(wrap(strings.TrimSuffix(elsewhere(f.q), "\n"), "", width))
	return b.String()
}
