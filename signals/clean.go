package signals

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const bom = "\ufeff"

// cleanLine makes a line of raw output what a person would see: valid UTF-8 without escape sequences or a byte order
// mark. A carriage return inside it takes the cursor back, so what follows the last one is what is seen.
func cleanLine(line string) string {
	line = strings.TrimRight(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, "\uFFFD")
	}
	line = stripEscapes(movedOver(line))
	return strings.TrimPrefix(line, bom)
}

// moves are the cursor's moves within its line: so many columns forward (C, a), or to a column (G, `), counted from 1.
var moves = lazily(`(?:\x1b\[|\x{9b})(\d*)([CaG` + "`" + `])`)

// Bounds on moves: what one counts for, in columns, as few terminals are wider; and the line that is looked at for
// them, in bytes, as what is drawn is short.
const (
	maxMove  = 300
	maxDrawn = 16 << 10
)

// movedOver puts blanks where a line moves the cursor instead of printing them, as programs that draw do: else the
// words run together. A move back has what follows written over what was there.
func movedOver(line string) string {
	if len(line) > maxDrawn || strings.IndexByte(line, 0x1b) < 0 && strings.IndexByte(line, 0xc2) < 0 {
		return line
	}
	var seen []byte
	rest := 0
	for _, m := range moves().FindAllStringSubmatchIndex(line, -1) {
		seen = append(seen, line[rest:m[0]]...)
		rest = m[1]
		n, err := strconv.Atoi(line[m[2]:m[3]])
		if err != nil && m[2] != m[3] {
			n = maxMove
		}
		n = min(max(n, 1), maxMove)
		if final := line[m[4]]; final == 'G' || final == '`' {
			width := ansi.StringWidth(string(seen))
			if n <= width {
				seen = append(seen[:0], ansi.Truncate(string(seen), n-1, "")...)
			}
			n -= width + 1
		}
		if n > 0 {
			seen = append(seen, strings.Repeat(" ", n)...)
		}
	}
	return string(seen) + line[rest:]
}

func stripEscapes(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 && strings.IndexByte(s, 0xc2) < 0 {
		return s // neither ESC nor the first byte of a C1 control
	}
	return ansi.Strip(s)
}

// cleanText makes text taken from a signal safe to show: no escape sequences and no control characters but newline
// and tab, which a quoted "\x1b" would else bring in; and no white space at its end. It is idempotent.
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, isControl) >= 0 {
		s = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			return r
		}, stripEscapes(s))
	}
	return strings.TrimRightFunc(s, unicode.IsSpace)
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// bounded cuts a text to at most n bytes, between two characters.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
