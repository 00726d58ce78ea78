package questions

import (
	"strings"
	"unicode"

	"claude-supervise/supervisor/text"
)

// This file is a note with a choice, as in "2: but in green". The answer is the label, a colon and the note: who does
// not tell them apart reads the same.

// TakesNotes reports whether words may stand beside what is chosen, as a note to it.
func (q Terms) TakesNotes() bool {
	return kinds[q.Kind].Noted && q.Validate == "" && len(q.Options) > 0
}

// withNote reads keys of options, or whole labels, with a colon, a blank and a note behind them. Other words before a
// colon are the person's own.
func (q Terms) withNote(said string) (answer string, ok bool) {
	head, note, ok := strings.Cut(said, ":")
	if !ok || !q.TakesNotes() || note == "" || !unicode.IsSpace(rune(note[0])) || len(q.exact(said)) > 0 {
		return "", false
	}
	for part := range strings.SplitSeq(head, ",") {
		part = strings.TrimSpace(part)
		if at, isKey := q.key(part); (!isKey || at >= len(q.Options)) && len(q.exact(part)) == 0 {
			return "", false
		}
	}
	picked, err := q.Named(head)
	if err != nil || len(picked) == 0 {
		return "", false
	}
	labels := make([]string, len(picked))
	for i, at := range picked {
		labels[i] = q.Options[at].Label
	}
	return Note(strings.Join(labels, ", "), note), true
}

// Note returns the answer that is a choice with a note to it.
func Note(chosen, note string) string { return chosen + ": " + strings.TrimSpace(note) }

// Noted takes an answer apart that is a choice with a note to it. It is not ok if it is anything else.
func Noted(q *Question) (labels []string, note string, ok bool) {
	if q.Declined || q.Skipped || !Of(q, "").TakesNotes() || len(Chosen(q)) > 0 {
		return nil, "", false
	}
	for end := len(q.Answer); end > 0; {
		if end = strings.LastIndex(q.Answer[:end], ": "); end < 0 {
			break
		}
		choice := *q
		choice.Answer = q.Answer[:end]
		note := strings.TrimSpace(q.Answer[end+2:])
		if labels := Chosen(&choice); len(labels) > 0 && note != "" {
			return labels, note, true
		}
	}
	return nil, "", false
}

// fillNote is what a form's choice is with the words beside it.
func (q Terms) fillNote(chosen, words string) (string, error) {
	if len(words) > text.MaxClean {
		return "", refuse(TooLong, "the note is longer than %d KiB: put it into a file and name the file instead",
			text.MaxClean>>10)
	}
	return q.decided(Note(chosen, text.Clean(words)), nil)
}
