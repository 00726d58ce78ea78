package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is how evidence is shown: what a person permits, of which nothing may be removed, folded or taken for
// something else.

// Seen makes one of the question's texts safe to show: of evidence it shows what cannot be seen, of talk it removes
// that.
func (q Question) Seen(s string) string {
	if !q.Evidence() {
		return Clean(s)
	}
	kept := text.Truncate(s, maxText)
	return text.Truncate(text.Shown(kept), maxText) + text.More(s[len(kept):])
}

// rows lays one of the question's texts out in lines of at most width cells, each after indent.
func (q Question) rows(s, indent string, width int) []string {
	s = strings.Trim(q.Seen(s), "\n")
	if q.Evidence() {
		return strings.Split(wrapEvidence(s, indent, width, q.talks()), "\n")
	}
	return strings.Split(wrap(s, indent, width), "\n")
}

// talks reports whether the evidence is sentences, which break between words.
func (q Question) talks() bool {
	return questions.KindOf(q.Kind).Hands || questions.KindOf(q.Kind).Plans
}

// wrapMark begins a row in which a line of evidence goes on. No line of it begins so: text.Visible leaves none, as its
// own lines begin with a letter, and those of others behind a space or a sign.
const wrapMark = "↳ "

// wrapEvidence breaks each line where the row is full, so that no space is lost, and marks where one goes on: a long
// line cannot pass for several, nor what it holds for a line of its own. With words it breaks behind the last space of
// a row, where there is one in its second half.
func wrapEvidence(s, indent string, width int, words bool) string {
	room := max(width-len(indent), 10)
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		begin, mark := room, ""
		for first := true; first || line != ""; first = false {
			if !first {
				b.WriteString("\n")
				begin, mark = room-ansi.StringWidth(wrapMark), wrapMark
			}
			row := ansi.Truncate(line, begin, "")
			if row == "" { // a character wider than the row
				row = line
			}
			if space := strings.LastIndexByte(row, ' '); words && len(row) < len(line) && 2*space > len(row) {
				row = row[:space+1]
			}
			b.WriteString(indent + mark + row)
			line = line[len(row):]
		}
	}
	return b.String()
}

// change lays the evidence of a call out as rows does. Lines of a diff have their looks, and first is the row at which
// what is changed begins; 0 if no line is. No other line of such evidence begins as those do (package permission).
func (q Question) change(s, indent string, width int, looks *styles) (rows []string, first int) {
	look := [...]ansi.Style{text.DiffHunk: looks.hunk, text.Added: looks.added, text.Removed: looks.removed}
	found := false
	for is, line := range text.DiffLines(strings.Trim(q.Seen(s), "\n")) {
		if !found && is >= text.Added {
			first, found = len(rows), true
		}
		for row := range strings.SplitSeq(wrapEvidence(line, indent, width, false), "\n") {
			if look := look[is]; len(look) > 0 {
				row = look.Styled(row)
			}
			rows = append(rows, row)
		}
	}
	return rows, first
}
