package signals

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
)

// A machine reads one stream of lines: it cuts the text into lines, follows the fences, opens and ends signals.
// It does not know whose ids are genuine.
type machine struct {
	partial []byte // of the line that is not complete
	cut     bool   // partial is missing its end
	n       int    // the line's number in this turn, 0 before the first

	fence   fence
	message int // counts the messages of this turn
	wrote   bool
	open    *opened
	suspect suspect
	strays  []Problem         // of this turn, belonging to no signal
	tail    *tail             // nil where signals without an id are read like all others
	emit    func(finding)     // is given each signal that ended, but for those in the tail
	late    func(Signal) bool // whether one with an id is for the tail all the same; nil: none is
	pausing bool              // the message under way asks something that is for the tail
	read    map[[32]byte]int  // the texts of signals read in this turn, and how many lines of each belong to it
}

// opened is a signal whose end has not come.
type opened struct {
	collector
	collected
	size    int   // bytes of lines
	end     int   // how many lines belong to it if it is never closed; -1: all
	fence   fence // around its marker
	message int   // that holds its marker
}

// A finding is a signal that ended.
type finding struct {
	Signal
	marker collector
}

// isPrinted reports whether a shell command that prints these lines prints the opening marker.
func (f finding) isPrinted(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return f.marker.printed(strings.TrimSpace(line)) })
}

func newMachine(t *tail, emit func(finding)) machine {
	return machine{tail: t, emit: emit, read: make(map[[32]byte]int)}
}

// quiet reports whether nothing waits for what the next line says.
func (m *machine) quiet() bool {
	return m.open == nil && m.suspect.name == "" && (m.tail == nil || len(m.tail.pending) == 0)
}

// text takes the next bytes of the stream. Most lines of most agents can open nothing: they are found and counted
// without being looked at, which is where the speed comes from.
func (m *machine) text(p string) {
	for len(p) > 0 {
		end := strings.IndexByte(p, '\n')
		if end < 0 {
			m.hold(p)
			return
		}
		if len(m.partial) > 0 {
			m.hold(p[:end])
			m.endLine()
		} else if line := p[:end]; m.quiet() && ordinary(line) {
			m.n++
			m.wrote = m.wrote || strings.TrimSpace(line) != ""
		} else {
			m.line(line)
		}
		p = p[end+1:]
	}
}

// ordinary reports whether a line can neither open nor close anything.
func ordinary(line string) bool {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i == len(line) {
		return true
	}
	if openable[line[i]] && mayOpen(line[i:]) {
		return false
	}
	cr := strings.IndexByte(line, '\r')
	return cr < 0 || cr == len(line)-1
}

func (m *machine) hold(p string) {
	if room := MaxBlock - len(m.partial); len(p) > room {
		p, m.cut = p[:room], true
	}
	m.partial = append(m.partial, p...)
}

// endLine completes a line that has no newline: at the end of a block of text, or of the turn.
func (m *machine) endLine() {
	if len(m.partial) == 0 {
		return
	}
	line := string(m.partial)
	m.partial = m.partial[:0]
	m.line(line)
	m.cut = false
}

// line takes one complete line.
func (m *machine) line(raw string) {
	m.n++
	if len(raw) > MaxBlock {
		raw, m.cut = raw[:MaxBlock], true
		defer func() { m.cut = false }()
	}
	line := cleanLine(raw)
	trimmed := strings.TrimSpace(line)
	m.wrote = m.wrote || trimmed != ""
	around := m.fence
	at := m.fence.feed(trimmed)
	if m.open != nil && m.inside(line, trimmed, at) {
		return
	}
	m.outside(trimmed, around, at)
}

// inside adds a line to the open signal. It returns false if the line is not part of it.
func (m *machine) inside(line, trimmed string, at turning) bool {
	o := m.open
	if opens(trimmed, true) != nil { // rule 8: an opening marker ends the outer signal
		m.endOpen(false)
		return false
	}
	if at == closesFence && o.fence.width > 0 && o.end < 0 {
		o.end = len(o.lines)
	}
	v := o.add(line, trimmed, at)
	if v == over {
		m.endOpen(false)
		return false
	}
	if v == stray {
		if o.end < 0 {
			o.end = len(o.lines)
		}
		m.problem(m.n, "unopened", "%s closes nothing that is open", trimmed)
		line = ""
	}
	o.cut = o.cut || m.cut
	o.keep(line, v == last)
	if v == last {
		o.last = m.n
		m.endOpen(true)
	}
	return true
}

// keep adds a line as far as there is room; of the closing one the end, where its tag stands. Lines are copied, so
// that a small signal does not hold on to the large text in which it came.
func (o *opened) keep(line string, closing bool) {
	room := max(0, MaxBlock-o.size)
	if len(line) > room {
		o.cut = true
		if closing {
			line = line[len(line)-min(len(line), maxTag):]
		} else {
			line = bounded(line, room)
		}
	}
	if room == 0 && !closing {
		return
	}
	o.lines = append(o.lines, strings.Clone(line))
	o.size += len(line) + lineCost
}

// outside takes a line while no signal is open. around is the fence in which it stands.
func (m *machine) outside(trimmed string, around fence, at turning) {
	if at == keeps && around.admits() && trimmed != "" {
		if c := opens(trimmed, false); c != nil {
			m.suspect = suspect{}
			m.open = &opened{
				collector: c, collected: collected{line: m.n, head: strings.Clone(trimmed), last: m.n, cut: m.cut},
				end: -1, fence: around, message: m.message,
			}
			if c.whole() {
				m.endOpen(true)
			}
			return
		}
		m.lookalike(trimmed)
	}
	if at == keeps {
		m.prose(trimmed)
	}
}

// lookalike takes note of what looks like a marker and is none: a closing tag with nothing to close, and a name that
// no form has. The latter is a problem only if a closing tag or an agent_id shows that it was meant.
func (m *machine) lookalike(trimmed string) {
	name, closing, ok := marker(trimmed)
	s := &m.suspect
	switch {
	case s.name != "" && m.n-s.line > suspectLines:
		*s = suspect{}
	case ok && closing && formNamed(name) != nil:
		m.problem(m.n, "unopened", "%s closes nothing that is open", trimmed)
	case ok && !closing:
		*s = suspect{name: name, line: m.n}
	case s.name == "":
	case ok && name == s.name || strings.HasPrefix(trimmed, "agent_id:"):
		m.problem(s.line, "unknown_signal", "[%s] is not a signal that is known here", s.name)
		*s = suspect{}
	}
}

// A suspect is an unknown marker that is not yet known to be meant as one.
type suspect struct {
	name string
	line int
}

func (m *machine) problem(line int, code, format string, args ...any) {
	m.strays = appendStray(m.strays, newProblem(line, code, format, args...))
}

func appendStray(strays []Problem, p Problem) []Problem {
	if len(strays) < maxStrays {
		return append(strays, p)
	}
	return strays
}

// endOpen ends the open signal where the text is now, or earlier if it was not closed and its message or its fence
// ended before.
func (m *machine) endOpen(closed bool) {
	o := m.open
	m.open = nil
	o.closed = closed
	var after []string
	if !closed && o.end >= 0 {
		o.lines, after = o.lines[:o.end], o.lines[o.end:]
	}
	used, ok := m.emitOpen(o)
	if ok {
		m.prose("") // a signal is no text, but it ends a paragraph
	} else {
		m.prose(o.head)
	}
	for _, line := range o.lines[used:] {
		m.prose(line)
	}
	for _, line := range after {
		m.prose(line)
	}
}

// emitOpen reads a signal and passes it on. It returns how many of its lines belong to it, or false if it is none. The
// same text again in one turn is the same signal and not read again, which makes repetition cheap.
func (m *machine) emitOpen(o *opened) (used int, ok bool) {
	raw := o.head
	if len(o.lines) > 0 {
		raw += "\n" + strings.Join(o.lines, "\n")
	}
	key := sha256.Sum256([]byte(raw))
	if used, ok := m.read[key]; ok && used <= len(o.lines) {
		return used, true
	}
	if m.tail != nil && o.message == m.message {
		if used, ok := m.tail.again(key, o.line, o.fence.width > 0 || o.fenced()); ok {
			return used, true
		}
	}
	sig, problems, ok := o.collector.read(o.collected)
	for _, p := range problems {
		m.strays = appendStray(m.strays, p)
	}
	if !ok {
		return 0, false
	}
	used = min(sig.EndLine-o.line, len(o.lines))
	if used < len(o.lines) {
		raw = strings.Join(append([]string{o.head}, o.lines[:used]...), "\n")
	}
	sig.Raw = bounded(raw, MaxRaw)
	f := finding{Signal: sig, marker: o.collector}
	late := sig.AgentID == "" || m.late != nil && m.late(sig)
	m.pausing = m.pausing || late && (sig.Kind == Clarification || sig.Kind == Stop)
	switch {
	case !late || m.tail == nil:
		if sig.AgentID != "" && len(m.read) < MaxSignals {
			m.read[key] = used
		}
		m.emit(f)
	case o.message == m.message:
		m.strays = m.tail.add(ending{finding: f, key: key, fenced: o.fence.width > 0 || o.fenced()}, m.strays)
	}
	return used, true
}

// prose gives a line that belongs to no signal to the tail.
func (m *machine) prose(line string) {
	if m.tail == nil || len(m.tail.pending) == 0 {
		return
	}
	if t := strings.TrimSpace(line); !isFence(t) {
		m.tail.prose(t)
	}
}

// beginMessage begins another message: fences end with theirs, and so do signals that cannot go on in the next.
func (m *machine) beginMessage() {
	m.endLine()
	if o := m.open; o != nil {
		if o.end < 0 {
			o.end = len(o.lines)
		}
		if !o.spans() {
			m.endOpen(false)
		}
	}
	m.fence, m.suspect, m.pausing = fence{}, suspect{}, false
	m.message++
	if m.tail != nil {
		m.tail.clear()
	}
}

// goOn says that the agent goes on after what it has said in this message: none of it is the end of the turn.
func (m *machine) goOn() {
	m.endLine()
	m.message++
	m.pausing = false
	m.tail.clear()
}

// finish ends the turn's text.
func (m *machine) finish() {
	m.endLine()
	if m.open != nil {
		m.endOpen(false)
	}
}

// clone copies the machine; emit is where the copy's signals go.
func (m *machine) clone(emit func(finding)) machine {
	c := *m
	c.emit = emit
	c.partial = slices.Clone(m.partial)
	c.strays = slices.Clone(m.strays)
	c.read = maps.Clone(m.read)
	if m.open != nil {
		o := *m.open
		o.collector = o.collector.clone()
		o.lines = slices.Clip(o.lines)
		c.open = &o
	}
	if m.tail != nil {
		c.tail = m.tail.clone()
	}
	return c
}
