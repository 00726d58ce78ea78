package files

import (
	"strconv"
	"strings"
	"unicode"
)

// Shown is a path as it can be printed: an agent made it up.
func Shown(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		path = strconv.QuoteToGraphic(path)
	}
	const most = 300 // runes
	if runes := []rune(path); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return path
}

// Shorten is the beginning of a text, for an error.
func Shorten(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Printable is a text without what would act on a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
