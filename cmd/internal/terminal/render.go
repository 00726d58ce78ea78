package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
)

const (
	maxShown = questions.MaxListed // options shown of one question
	maxLines = 60                  // lines shown of one text; Whole has the rest
)

// Render returns the question as plain lines of at most width cells: where it comes from, its context and text, the
// options with their keys and previews, and how to answer it elsewhere. now is what "asked 3m ago" is reckoned from. Of
// what is very long the beginning is shown, and that `claude-supervise show` has the rest.
func Render(q Question, width int, now time.Time) string {
	return render(q, width, now, maxShown, maxLines, plainly) + elsewhere(q) + advance(q)
}

// Whole is Render with every line that can be shown.
func Whole(q Question, width int, now time.Time) string {
	return render(q, width, now, math.MaxInt, math.MaxInt, plainly) + elsewhere(q) + advance(q)
}

func plainly(s string) string { return s }

// render shows at most that many options, and as many lines of each text.
func render(q Question, width int, now time.Time, options, lines int, bold func(string) string) string {
	var b strings.Builder
	for i, line := range strings.Split(wrap(headline(q, now), "", width), "\n") {
		if i == 0 {
			line = bold(line)
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(block(q, q.Context, "  ", width, lines))
	b.WriteString(block(q, q.Text, "", width, lines))
	keys := q.Keys()
	for i, o := range q.Options[:min(len(q.Options), options)] {
		mark := "  - "
		if keys[i] != "" {
			mark = "  " + keys[i] + ") "
		}
		line := CleanLine(o.Label, 400)
		if about := CleanLine(o.Description, 800); about != "" {
			line += " - " + about
		}
		b.WriteString(hang(mark, line, width) + "\n")
		b.WriteString(block(q, o.Preview, strings.Repeat(" ", len(mark)+2), width, lines))
	}
	if more := len(q.Options) - options; more > 0 {
		fmt.Fprintf(&b, "  (%d more options: claude-supervise show %s)\n", more, name(q))
	}
	return b.String()
}

// headline is one line: id, header, place in the group, when and by whom.
func headline(q Question, now time.Time) string {
	line := "[" + name(q) + "]"
	if q.Urgent {
		line += " URGENT"
	}
	if header := CleanLine(q.Header, 60); header != "" {
		line += " " + header
	} else if q.Kind != "" {
		line += " " + CleanLine(string(q.Kind), 20)
	}
	if q.Of > 1 {
		line += fmt.Sprintf(" (%d of %d)", q.Index+1, q.Of)
	}
	if !q.AskedAt.IsZero() {
		line += ","
	}
	line += whence(q, now)
	if asker := CleanLine(q.Asker, 400); asker != "" {
		line += ", for " + asker
	}
	return line
}

// whence says when a question was asked, by whom and where, as far as it is known, after a space.
func whence(q Question, now time.Time) (text string) {
	if !q.AskedAt.IsZero() {
		text += " asked " + Ago(q.AskedAt, now)
	}
	if q.Agent != "" {
		text += " by " + CleanLine(q.Agent, 60)
	}
	if q.Run != "" {
		text += " in " + CleanLine(q.Run, 40)
	}
	if q.Place != "" {
		text += " (" + CleanLine(q.Place, 200) + ")"
	}
	return text
}

func block(q Question, text, indent string, width, most int) string {
	if strings.TrimSpace(q.Seen(text)) == "" {
		return ""
	}
	lines := q.rows(text, indent, width)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("%s(%d more lines: claude-supervise show %s)", indent, more, name(q)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// hint says in one or two lines how to answer here.
func hint(q Question, canGoBack, canPutOff bool, width int) string {
	number := "Number"
	if q.MultiSelect {
		number = "Numbers with commas"
	}
	var say string
	switch {
	case len(q.Options) == 0 && q.Rule() != "":
		say = "Type " + q.Rule()
	case len(q.Options) == 0:
		say = "Type your answer"
	case questions.KindOf(q.Kind).Runs:
		say = "Type run to run it, or 2 to leave it"
	case q.Decides():
		say = number + " or label, and why if you like"
	case q.Validate == "choice":
		say = number + " or label"
	case q.Rule() != "":
		say = number + ", label or " + q.Rule()
	default:
		say = number + ", label or your own words"
	}
	say += ";"
	if canGoBack {
		say += " < to go back,"
	}
	if canPutOff {
		say += " > for the next,"
	}
	if q.Assumption != "" {
		say += " " + questions.AsAssumed + " as assumed,"
	}
	if q.Optional {
		say += " - to skip,"
	}
	if q.Declinable {
		say += " ! to decline,"
	}
	return wrap(say+" ? for help", "", width) + "\n"
}

func elsewhere(q Question) string {
	if q.Command == "" {
		return ""
	}
	return "From another terminal: " + CleanLine(q.Command, 0) + "\n"
}

// advance says what would have permitted it unasked. It is to be copied, and not broken.
func advance(q Question) string {
	if q.Advance == "" {
		return ""
	}
	return "In advance: " + CleanLine(q.Advance, 0) + "\n"
}

// help is what ? shows.
func help(q Question, canGoBack, canPutOff bool, editor string, width int) string {
	var b strings.Builder
	say := func(keys, text string) {
		b.WriteString(hang(fmt.Sprintf("  %-11s", keys), text, width) + "\n")
	}
	if len(q.Options) > 0 {
		say("2, b, Red", "the option of that number, letter, label or start of a label, in any case")
		if q.MultiSelect {
			say("1,3", "several options")
		}
	}
	say(`… \`, "a line that ends in a backslash continues in the next")
	say(`""" … """`, "your own words as written, over as many lines as you like")
	if editor != "" {
		say(toEditor, "write it in your editor, "+editor)
	}
	if canGoBack {
		say("<", "back to the question before, to change its answer")
	}
	if canPutOff {
		say(">", "the next question first; this one stays open")
	}
	if q.Assumption != "" {
		say(questions.AsAssumed, "accept what the agent has assumed")
	}
	if q.Optional {
		say("-", "continue without an answer")
	}
	if q.Declinable {
		say("! WHY", "there will be no answer; the agent reads why")
	}
	say("Enter", "shows the question again")
	say("Ctrl-D", "stops asking here; questions stay open")
	b.WriteString(elsewhere(q))
	return b.String()
}

// name is the question's id as it can be shown.
func name(q Question) string { return CleanLine(q.ID, 40) }

// Fact is text behind its label, in lines of at most width cells that all begin below its beginning; without a limit
// where width is 0. A word that is longer, as a path or a command that is to be copied, is left to the terminal.
func Fact(label, text string, width int) string {
	if width <= 0 {
		return label + text
	}
	indent := strings.Repeat(" ", ansi.StringWidth(label))
	room, folded := max(width-len(indent), 10), ""
	if strings.Contains(text, joint) {
		folded = ansi.Wordwrap(text, room, "")
	} else {
		folded = atBlanks(text, room, ansi.Wordwrap)
	}
	return label + strings.ReplaceAll(folded, "\n", "\n"+indent)
}

// hang is text behind a mark, in lines of at most width cells that all begin below its beginning.
func hang(mark, text string, width int) string {
	indent := strings.Repeat(" ", ansi.StringWidth(mark))
	return mark + strings.TrimPrefix(wrap(text, indent, width), indent)
}

// wrap breaks text into lines of at most width cells, each after indent. Tabs become spaces: their width is not known
// here.
func wrap(text, indent string, width int) string {
	text = strings.ReplaceAll(text, "\t", "    ")
	room := max(width-len(indent), 10)
	return indent + strings.ReplaceAll(wrapWords(text, room), "\n", "\n"+indent)
}

// Wrap breaks text into lines of at most width cells: between words, as on every terminal of this program.
func Wrap(text string, width int) []string {
	return strings.Split(wrapWords(strings.ReplaceAll(text, "\t", "    "), max(width, 1)), "\n")
}

// wrapWords breaks text where there is space, and not at a hyphen as ansi.Wrap does: an id, a flag or a command that is
// broken there cannot be copied. What is longer than a line is cut.
func wrapWords(text string, width int) string {
	if strings.Contains(text, joint) {
		return ansi.Hardwrap(ansi.Wrap(text, width, ""), width, true) // Wrap lets a hyphen stand out, with what is before it
	}
	return atBlanks(text, width, ansi.Wrap)
}

const joint = "\u2011" // a hyphen that nothing is broken at, as wide as the other

func atBlanks(text string, width int, wrap func(s string, limit int, breakpoints string) string) string {
	return strings.ReplaceAll(wrap(strings.ReplaceAll(text, "-", joint), width, ""), joint, "-")
}
