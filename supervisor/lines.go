package supervisor

import "strings"

// This file is where one line of a text ends and the next begins, for a person at a terminal and for an agent that reads a prompt
// alike. What somebody else has written stands among words of ours: none of its lines may pass for one of them.

// newlines writes every kind of line end as a newline: whoever shows the text or reads it may take each of them for one.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// maxLine bounds a line that stands for a longer text, in bytes.
const maxLine = 500

// firstLine is the beginning of a text, for where there is room for a line.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if end := strings.IndexAny(s, "\n\r\v\f\u0085\u2028\u2029"); end >= 0 {
		s = s[:end]
	}
	if len(s) > maxLine {
		s = cutAt(s, maxLine) + "…"
	}
	return s
}

// indented sets a text off from ours, all of its lines.
func indented(text string) string {
	return "    " + strings.ReplaceAll(newlines.Replace(text), "\n", "\n    ")
}

// indentedAfter sets the later lines of a text off, so that none of them passes for a heading.
func indentedAfter(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(newlines.Replace(text)), "\n", "\n  ")
}

// oneLine writes a name that somebody has made up in one line, and short enough to stand in front of others.
func oneLine(name string) string {
	return strings.TrimSpace(cutAt(strings.Join(strings.Fields(name), " "), maxNamed))
}
