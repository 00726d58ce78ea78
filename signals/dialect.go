package signals

import "strings"

// A dialect is one written form of signals. One file implements it and one line in dialects registers it.
type dialect struct {
	// starts are all beginnings, of at least one byte, that a line which opens a signal of this dialect can have.
	starts []string
	// open looks at a line, trimmed of white space, that begins so. It returns nil if the line opens no signal. inside
	// says that another signal is open; then only a line that cannot be part of that one opens.
	open func(line string, inside bool) collector
}

// dialects are asked in order, the first that opens has the line.
var dialects = []dialect{
	{[]string{"["}, asBlock},
	{[]string{"{"}, asObject},
	{[]string{awaitingInput}, asAwaiting},
	{[]string{pausedForInput}, asPaused},
	{[]string{questionEscalated}, asEscalation},
	{[]string{workflowComplete}, asWorkflowMarker},
	{[]string{"TaskUpdate(", "await TaskUpdate("}, asTaskUpdate},
}

// A collector follows one open signal to its end. It keeps what it needs to find the end; the machine keeps the text.
type collector interface {
	// add takes a further line: as it stands, and trimmed. at says what the line does to the fences around it. The
	// line that opened the signal is not passed; whole tells of that one.
	add(line, trimmed string, at turning) verdict
	// whole reports whether the opening line is all of the signal.
	whole() bool
	// spans reports whether a later message may go on with the signal.
	spans() bool
	// fenced reports whether what follows the opening line stands in a fence of its own, which then holds the signal.
	fenced() bool
	// read makes a signal of the text. It returns false if it is no signal after all.
	read(collected) (Signal, []Problem, bool)
	// printed reports whether a line that a shell command prints, trimmed, is or holds the opening marker.
	printed(trimmed string) bool
	clone() collector
}

// A verdict says what a line is to the signal that is open.
type verdict int

const (
	more  verdict = iota // part of it
	last                 // its last line
	over                 // not part of it: the signal ended with the line before
	stray                // an end that does not belong: if no better one comes, this was it
)

// collected is the text of one signal.
type collected struct {
	line   int      // of the opening marker
	head   string   // the opening line
	last   int      // of the closing marker; of no meaning if it is not closed
	lines  []string // those after it, up to and with the closing one
	closed bool     // it came to its proper end
	cut    bool     // more came than is kept
}

// end is the number of the last line.
func (c collected) end() int {
	if c.closed {
		return c.last
	}
	return c.line + len(c.lines)
}

// The limits of what is kept of an agent's output. Text beyond them is dropped, and said to be.
const (
	MaxRaw     = 64 << 10 // bytes of Signal.Raw
	MaxBlock   = 1 << 20  // bytes of one signal's text, and of one line
	MaxSignals = 1000     // signals of one turn, its own and foreign ones each
	maxPending = 8        // signals without an id that may still turn out to stand at the end
	maxStrays  = 100      // problems of one turn that belong to no signal

	maxTag       = 64 // bytes of the longest line that can be a marker
	lineCost     = 16 // bytes that a line takes beside its text
	suspectLines = 100
)

// An opening is the beginning of a line that has to be looked at.
type opening struct {
	start string
	open  func(line string, inside bool) collector // of the dialect; nil for a beginning that only hides one
}

// openings are listed by their first byte: those of the dialects, of fences, and of what may be dropped from the start
// of a line (an escape, a byte order mark, Unicode white space, a carriage return).
var openings = func() (t [256][]opening) {
	for _, d := range dialects {
		for _, start := range d.starts {
			t[start[0]] = append(t[start[0]], opening{start, d.open})
		}
	}
	for _, c := range []byte("[`~\r\x1b\xc2\xe1\xe2\xe3\xef") {
		t[c] = append(t[c], opening{start: string([]byte{c})})
	}
	return t
}()

// openable has an entry for every byte that openings has one for.
var openable = func() (t [256]bool) {
	for c := range openings {
		t[c] = openings[c] != nil
	}
	return t
}()

// mayOpen reports whether a line may have one of the openings: at its start, or with an escape sequence inside.
func mayOpen(text string) bool {
	for _, o := range openings[text[0]] {
		if strings.HasPrefix(text, o.start) {
			return true
		}
	}
	return strings.IndexByte(text, 0x1b) >= 0 || strings.IndexByte(text, 0xc2) >= 0
}

// opens returns what a line, trimmed of white space, opens.
func opens(trimmed string, inside bool) collector {
	if trimmed == "" {
		return nil
	}
	for _, o := range openings[trimmed[0]] {
		if o.open != nil && strings.HasPrefix(trimmed, o.start) {
			if c := o.open(trimmed, inside); c != nil {
				return c
			}
		}
	}
	return nil
}
