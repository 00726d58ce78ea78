package signals

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainObject takes out of an object what JSON does not know and agents write all the same: comments in the way of
// JavaScript, and typographic quotes around names and texts. What stands inside of texts is left alone.
func plainObject(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '"' || r == '\'' || r == '`':
			size = quotedLength(text)
			b.WriteString(plainString(text[:size]))
		case r == '“' || r == '„' || r == '”':
			inner, rest, closed := cutAny(text[size:], "“”")
			if !closed {
				b.WriteString(text[:size])
				break
			}
			b.WriteByte('"')
			b.WriteString(strings.ReplaceAll(inner, `"`, `\"`))
			b.WriteByte('"')
			size = len(text) - len(rest)
		case strings.HasPrefix(text, "//"):
			comment, _, _ := strings.Cut(text, "\n")
			size = len(comment)
		case strings.HasPrefix(text, "/*"):
			if _, rest, closed := strings.Cut(text, "*/"); closed {
				size = len(text) - len(rest)
			} else {
				size = len(text)
			}
		case r == ':' && strings.HasPrefix(text, "://"):
			size = len("://") // of an address that has no quotes
			b.WriteString("://")
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// plainString writes a string of JavaScript so that YAML reads it too: in single quotes that knows no backslash, and
// backticks are no quotes to it.
func plainString(s string) string {
	if len(s) > 1 && (s[0] == '`' || s[0] == '\'' && strings.Contains(s, `\`)) {
		return strconv.Quote(strings.ReplaceAll(strings.ReplaceAll(s[1:len(s)-1], `\`+s[:1], s[:1]), `\n`, "\n"))
	}
	return s
}

// quotedLength is how much of a text is the string in quotes with which it begins. A quote with no other on its line is
// an apostrophe.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		case '\n':
			if text[0] == '\'' {
				return 1
			}
		}
	}
	return 1
}

// cutAny cuts a text around the first of some characters.
func cutAny(s, chars string) (before, after string, found bool) {
	i := strings.IndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return s[:i], s[i+size:], true
}
