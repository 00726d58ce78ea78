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
	key         [32]byte // of its text
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
func (t *tail) add(e ending, strays []Problem) []Problem {
	if len(t.pending) == maxPending {
		strays = appendStray(strays, Problem{
			Line: t.pending[0].Line, Code: "truncated",
			Message: "too many signals without an agent_id at the end of one message: this one is dropped",
		})
		t.pending = slices.Delete(t.pending, 0, 1)
	}
	t.pending = append(t.pending, e)
	return strays
}

// again takes a signal whose text is that of one which still stands: it is the same one, and stands here now. It
// returns how many lines after the first belong to it, or false if there is none.
func (t *tail) again(key [32]byte, line int, fenced bool) (used int, ok bool) {
	i := slices.IndexFunc(t.pending, func(e ending) bool { return e.key == key })
	if i < 0 {
		return 0, false
	}
	e := t.pending[i]
	used = e.EndLine - e.Line
	e.Problems = slices.Clone(e.Problems)
	for j := range e.Problems {
		e.Problems[j].Line += line - e.Line
	}
	e.Line, e.EndLine = line, line+used
	t.pending = append(slices.Delete(t.pending, i, i+1), ending{finding: e.finding, key: key, fenced: fenced})
	return used, true
}

// clear forgets all: another message has begun, or the agent went on to work.
func (t *tail) clear() { t.pending = nil }

func (t *tail) clone() *tail { return &tail{pending: slices.Clone(t.pending)} }
