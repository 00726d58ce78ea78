// Package text writes texts of others for a person to judge: byte for byte, with what cannot be seen made visible, and
// with the size of what is left out.
//
// Use [Visible] for evidence, which is what somebody permits: commands, changes of files, addresses, paths, inputs of
// tools. Nothing of it is removed or replaced, so that what is read is what runs; texttest.Original reads it back.
// Prose of agents needs none of this and may be cleaned in other ways.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The form of a visible text:
//
//	\x1b \xff          a control character, or a byte that is no UTF-8
//	\u202e \U000e0061  a character that cannot be seen, or that changes how others are seen
//	⇥ and 3 spaces     a tab; the character ⇥ itself is \u21e5
//	\\x1b              a backslash and x1b: before what reads as one of these forms, each backslash is written twice
//
// All other bytes stand for themselves, newlines and other backslashes included. So the text is read back in one way
// only.

const (
	tabSign = '⇥'
	tab     = "⇥   "
)

// Visible writes a text so that all of it can be seen. A newline stays one.
func Visible(s string) string { return visible(s, false) }

// VisibleLine is Visible for what stands on one line: a newline becomes \x0a.
func VisibleLine(s string) string { return visible(s, true) }

// Shown is Visible for a text that may have been made visible before: one without anything hidden stays as it is.
func Shown(s string) string {
	if HiddenIn(s) == 0 && !strings.ContainsRune(s, '\t') {
		return s
	}
	return Visible(s)
}

func visible(s string, line bool) string {
	var b strings.Builder
	var before rune
	for i := 0; i < len(s); {
		if n := len(s[i:]) - len(strings.TrimLeft(s[i:], `\`)); n > 0 {
			if rest := s[i+n:]; readsAsForm(rest) || escapedFirst(rest, line) {
				b.WriteString(s[i : i+n])
			}
			b.WriteString(s[i : i+n])
			i, before = i+n, '\\'
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		last := before // 0: what is written another way is no sign that a selector follows
		before = 0
		switch {
		case r == '\t':
			b.WriteString(tab)
		case !escaped(r, size, last, line):
			b.WriteString(s[i : i+size])
			before = r
		case size == 1: // with a byte that is no UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// escapedFirst reports whether a text that follows a backslash begins with what is written with a backslash.
func escapedFirst(s string, line bool) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && r != '\t' && escaped(r, size, '\\', line)
}

// escaped reports whether a rune of this size is written with a backslash after another one.
func escaped(r rune, size int, before rune, line bool) bool {
	switch {
	case r == '\n':
		return line
	case r == utf8.RuneError && size == 1, r == tabSign:
		return true
	}
	return hidden(r, before)
}

// readsAsForm reports whether a text would be read as one of the forms if it followed a backslash.
func readsAsForm(s string) bool {
	if s == "" {
		return false
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	return digits > 0 && len(s) > digits && strings.Trim(s[1:digits+1], "0123456789abcdef") == ""
}

// HiddenIn returns how many characters of a text cannot be seen. Tabs and newlines are not counted: their place shows
// them.
func HiddenIn(s string) int {
	n := 0
	var before rune
	for i, r := range s {
		invalid := false
		if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(s[i:])
			invalid = size == 1
		}
		if invalid || r != '\n' && r != '\t' && hidden(r, before) {
			n++
			r = 0
		}
		before = r
	}
	return n
}

// hidden reports whether a rune after another one is one that nobody sees, or that is seen as another one: controls,
// format and bidirectional controls, joiners, tags, all spaces but ' ', fillers, and what Unicode does not know or
// leaves to fonts. A variation selector is seen where it makes an emoji of a sign.
func hidden(r, before rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return false
	case r == '\ufe0f' && unicode.Is(unicode.So, before), unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r == '\u2800', r == '\U00016fe4', r == '\U0001d159': // blanks among letters, marks and signs
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Hidden reports whether a rune cannot be seen where it stands alone.
func Hidden(r rune) bool { return hidden(r, 0) }
