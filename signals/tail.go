package signals

import (
	"slices"
	"unicode/utf8"
)

// maxAfter is how many characters may follow a signal without an id that stands at the end of a message.
const maxAfter = 300

// A tail holds the signals without an id of the message that is now the last one, as long as they can still be said
// to stand at its end: at most one short paragraph follows, and nothing at all if they stand in a fence.
type tail struct {
	pending []ending
}

type ending struct {
	finding
	fenced      bool
	characters  int // of the text after it
	paragraphs  int
	inParagraph bool
}

func (e *ending) stands() bool {
	if e.fenced {
		return e.paragraphs == 0
	}
	return e.paragraphs <= 1 && e.characters <= maxAfter
}

// prose takes a trimmed line of text that belongs to no signal and no fence marker.
func (t *tail) prose(line string) {
	for i := range t.pending {
		e := &t.pending[i]
		if line == "" {
			e.inParagraph = false
			continue
		}
		if !e.inParagraph {
			e.paragraphs++
			e.inParagraph = true
		}
		e.characters += utf8.RuneCountInString(line)
	}
	t.pending = slices.DeleteFunc(t.pending, func(e ending) bool { return !e.stands() })
}

// add takes a signal that just ended.
func (t *tail) add(f finding, fenced bool, strays []Problem) []Problem {
	if len(t.pending) == maxPending {
		strays = appendStray(strays, Problem{
			Line: t.pending[0].Line, Code: "truncated",
			Message: "too many signals without an agent_id at the end of one message: this one is dropped",
		})
		t.pending = slices.Delete(t.pending, 0, 1)
	}
	t.pending = append(t.pending, ending{finding: f, fenced: fenced})
	return strays
}

// clear forgets all: another message has begun, or the agent went on to work.
func (t *tail) clear() { t.pending = nil }

func (t *tail) clone() *tail { return &tail{pending: slices.Clone(t.pending)} }
