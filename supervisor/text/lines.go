package text

import (
	"fmt"
	"strings"
	"unicode"
)

// This file is where one line of a text ends and the next begins, for a person at a terminal and for an agent that
// reads a prompt alike. What somebody else has written stands among words of ours: none of its lines may pass for one
// of them.

// Newlines writes every kind of line end as a newline: whoever shows the text or reads it may take each of them for
// one.
var Newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// MaxLine bounds a line that stands for a longer text, in bytes.
const MaxLine = 500

// FirstLine is the beginning of a text, for where there is room for a line.
func FirstLine(s string) string {
	s = strings.TrimSpace(s)
	if end := strings.IndexAny(s, "\n\r\v\f\u0085\u2028\u2029"); end >= 0 {
		s = s[:end]
	}
	if len(s) > MaxLine {
		s = Truncate(s, MaxLine) + "…"
	}
	return s
}

// Indented sets a text off from ours, all of its lines.
func Indented(text string) string {
	return "    " + strings.ReplaceAll(Newlines.Replace(text), "\n", "\n    ")
}

// IndentedAfter sets the later lines of a text off, so that none of them passes for a heading.
func IndentedAfter(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(Newlines.Replace(text)), "\n", "\n  ")
}

// OneLine writes a name that somebody has made up in one line, and short enough to stand in front of others.
func OneLine(name string) string {
	return strings.TrimSpace(Truncate(strings.Join(strings.Fields(name), " "), MaxNamed))
}

// MaxNamed bounds what a question's text names, in bytes: the context has all of it.
const MaxNamed = 160

// MaxGitLine bounds a line that git writes, in characters.
const MaxGitLine = 200 // bytes of one path or subject

// TellList adds a list with a heading; nothing if it is empty.
func TellList(b *strings.Builder, heading string, items []string, most int) {
	if len(items) == 0 {
		return
	}
	b.WriteString(heading + "\n")
	for _, item := range items[:min(most, len(items))] {
		fmt.Fprintf(b, "- %s\n", item)
	}
	if len(items) > most {
		b.WriteString("- and more\n")
	}
	b.WriteString("\n")
}

// PlainLine is a name or a subject that somebody made up, as one line of a text.
func PlainLine(text string) string {
	if len(text) > MaxGitLine {
		text = strings.ToValidUTF8(text[:MaxGitLine], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
