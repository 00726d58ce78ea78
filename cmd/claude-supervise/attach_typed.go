package main

import (
	"slices"
	"strings"
)

// A lineKind is what a person wants by a line typed to attach.
type lineKind int

const (
	toSay     lineKind = iota // send a message
	toAnswer                  // answer a question
	toChoose                  // say first which of the two it is
	toDrop                    // neither, after all
	toDetach                  // leave
	toHelp                    // see what can be typed
	unknownTo                 // nothing that is known
)

// A typedLine is a line typed to attach, understood.
type typedLine struct {
	kind     lineKind
	question string // to answer: its id as it was typed; "": the one that is open
	text     string // the message or the answer; of unknownTo the word
}

// understood says what a line means while these questions are open. An answer and a message are told apart by the
// person: with a question open a plain line is neither until they have said which. Undecided is the line that waits for
// that, and is decided by a or m alone; any other line takes its place.
func understood(line string, open []string, undecided string) typedLine {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if undecided != "" && rest == "" {
		switch strings.ToLower(word) {
		case "a", "answer", "/answer":
			return typedLine{kind: toAnswer, text: undecided}
		case "m", "message", "/say":
			return typedLine{kind: toSay, text: undecided}
		case "n", "no", "neither":
			return typedLine{kind: toDrop}
		}
	}
	switch {
	case !strings.HasPrefix(word, "/") && len(open) > 0:
		return typedLine{kind: toChoose, text: line}
	case !strings.HasPrefix(word, "/"):
		return typedLine{kind: toSay, text: line}
	}
	switch word {
	case "/say":
		return typedLine{kind: toSay, text: rest}
	case "/answer":
		id, value, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(id, "q-") || slices.Contains(open, "q-"+id) {
			return typedLine{kind: toAnswer, question: id, text: strings.TrimSpace(value)}
		}
		return typedLine{kind: toAnswer, text: rest}
	case "/detach":
		return typedLine{kind: toDetach}
	case "/help", "/?":
		return typedLine{kind: toHelp}
	}
	return typedLine{kind: unknownTo, text: word}
}
