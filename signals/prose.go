package signals

import (
	"strings"
	"unicode/utf8"
)

// Prose is no form of a signal: an agent has ended its turn with a question in its own words. Only who knows that it
// ended so reads it ([ClosingQuestion]); no scanner does.
const Prose Dialect = "prose"

// Bounds on a question in prose, in characters.
const (
	maxClosing = 120  // of a line below it: "Let me know."
	maxAsked   = 1000 // of its own line
	maxBefore  = 600  // of what stands above it
)

var optionLine = lazily(`^(?:[-*•] |\(?[0-9A-Za-z]{1,2}[.)] )\S`)

// ClosingQuestion returns the question that a message ends with: its last line ends with a question mark, but for
// options and one short sentence below it. What stands above it is its context.
func ClosingQuestion(message string) (Signal, bool) {
	lines := strings.Split(strings.TrimSpace(cleanText(message)), "\n")
	at, closing := len(lines)-1, 0
	for ; at >= 0; at-- {
		line := strings.TrimSpace(lines[at])
		if asks(line) {
			break
		}
		switch {
		case line == "", optionLine().MatchString(line):
		case closing == 0 && utf8.RuneCountInString(line) <= maxClosing && !isFence(line):
			closing++
		default:
			return Signal{}, false
		}
	}
	if at < 0 || strings.Count(strings.Join(lines[:at], "\n"), "```")%2 > 0 {
		return Signal{}, false // there is none, or it stands in a fence
	}
	q := Question{ID: "Q1", Text: strings.Trim(strings.TrimSpace(lines[at]), "*_ "),
		Context: lastCharacters(strings.TrimSpace(strings.Join(lines[:at], "\n")), maxBefore)}
	// Options are written as below the skill's PAUSED_FOR_INPUT.
	below := Scan(pausedForInput+"\n"+strings.Join(lines[at:], "\n"), "")
	if len(below) == 1 && len(below[0].Questions) == 1 {
		q.Options = below[0].Questions[0].Options
	}
	return Signal{Kind: Clarification, Dialect: Prose, Line: at + 1, EndLine: len(lines), Questions: []Question{q}}, true
}

// asks reports whether a line is a question to who reads it: no quote, heading or row of a table.
func asks(line string) bool {
	if line == "" || strings.ContainsAny(line[:1], ">|#`") || utf8.RuneCountInString(line) > maxAsked {
		return false
	}
	line = strings.TrimRight(line, "*_\"')”»` ")
	return strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？") || strings.HasSuffix(line, "؟")
}

// lastCharacters returns the end of a text.
func lastCharacters(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return "…" + strings.TrimSpace(string(runes[len(runes)-most:]))
}
