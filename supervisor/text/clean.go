package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// MaxClean is the most bytes of one text that is shown or taken as an answer.
const MaxClean = 256 << 10

const cutMark = "… [cut]"

// Clean makes any text safe to show. Escape sequences, control characters other than newline and tab, and characters
// that are invisible or change the reading direction are removed; every kind of line end becomes a newline; invalid
// UTF-8 becomes U+FFFD. What is longer than [MaxClean] is cut, and says so. An escape sequence that never ends costs
// the rest of its line, not of the text. Clean(Clean(s)) is Clean(s).
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	cut := len(s) > MaxClean
	if cut {
		s = s[:MaxClean]
	}
	// Only valid UTF-8 may reach Strip: after a broken rune it takes the following bytes for the rest of that rune.
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = Newlines.Replace(s)
	if strings.ContainsRune(s, ansi.ESC) {
		rows := strings.Split(s, "\n")
		for i, row := range rows {
			rows[i] = ansi.Strip(row)
		}
		s = strings.Join(rows, "\n")
	}
	s = strings.Map(Plain, s)
	if cut || len(s) > MaxClean {
		s = Truncate(s, MaxClean-len(cutMark)) + cutMark
	}
	return s
}

// CleanLine is Clean folded to one line: white space around it is left out, and every run of it with more in it than
// plain spaces becomes one space. A line wider than width terminal cells is cut and says how much is missing, as
// Fit does; a width of 0 or less sets no limit.
func CleanLine(s string, width int) string {
	s = strings.TrimSpace(Clean(s))
	if strings.IndexFunc(s, widerThanASpace) >= 0 { // most lines have nothing to fold, and are long where it counts
		s = folding().ReplaceAllString(s, " ")
	}
	if width > 0 {
		s = Fit(s, width)
	}
	return s
}

// folding is white space that makes more than one line, or is wider than it looks.
var folding = Lazily(`[\s\p{Zs}]*(?:[^\S ]|[^\P{Zs} ])[\s\p{Zs}]*`)

// widerThanASpace reports whether folding takes a character, with what white space there is around it.
func widerThanASpace(r rune) bool {
	return r != ' ' && (r == '\t' || r == '\n' || r == '\f' || r == '\r' || r > 0x7f && unicode.Is(unicode.Zs, r))
}

func isClean(s string) bool {
	if len(s) > MaxClean || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if Plain(r) != r || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}

// Plain drops (as strings.Map does for -1) what a terminal would obey or hide. Of the format characters, those that
// words and emoji need stay: joiners, and the marks of Arabic and Syriac numbers.
func Plain(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f, r == '\n', r == '\t', r == '\u200c', r == '\u200d':
		return r
	case unicode.IsControl(r):
		return -1
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return -1
	}
	return r
}
