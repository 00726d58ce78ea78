package signals

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Findings is what Lint tells of a file. Its JSON is the output of `lint --json`: fields may be added, never renamed.
type Findings struct {
	Signals  []Found   `json:"signals"`  // those that count, in the order of their lines
	Problems []Problem `json:"problems"` // of these, of others' signals, and of what is none; in the order of their lines
}

// Found is one signal in a file.
type Found struct {
	Kind      Kind              `json:"kind"`
	Dialect   Dialect           `json:"dialect"`
	AgentID   string            `json:"agent_id"`
	Timestamp string            `json:"timestamp"`
	Line      int               `json:"line"` // of the opening marker, from 1; in a stream, of the message
	EndLine   int               `json:"end_line"`
	Fields    map[string]string `json:"fields"` // all others; scalars as written, lists and maps as YAML
	Questions []Question        `json:"questions"`
}

// LintConfig says what Lint holds a file to.
type LintConfig struct {
	// Agent is the id that signals must carry: those of another are problems of the code foreign. Without it every id is
	// taken that is not a placeholder.
	Agent string
}

// Lint finds the signals in a file and what is wrong with their form, by the rules of the protocols document (002,
// "Signal Format Validation": required fields, YAML, timestamps, delimiters) and of this package. The file is a text,
// or the lines of a conversation: what claude prints with --output-format stream-json, its transcript, or a log of
// ours. Which it is, its lines tell.
//
// A text is read as one message. In a conversation the tools that the supervisor serves, AskUserQuestion and TaskUpdate
// are signals too. Files are read as they come; memory is bounded, and what does not fit is a problem of the code
// truncated. The error is the reader's.
func Lint(r io.Reader, c LintConfig) (Findings, error) {
	in := bufio.NewReaderSize(r, lintHead)
	head, err := in.Peek(lintHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return Findings{}, fmt.Errorf("read what is to be linted: %w", err)
	}
	l := newLinter(c)
	if isStream(head, errors.Is(err, io.EOF)) {
		err = l.stream(in)
	} else {
		err = l.text(in)
	}
	if err != nil {
		return Findings{}, fmt.Errorf("read what is to be linted: %w", err)
	}
	return l.findings(), nil
}

// LintMessage is Lint of one message of an agent, whatever it looks like.
func LintMessage(text string, c LintConfig) Findings {
	l := newLinter(c)
	_ = l.text(strings.NewReader(text)) // has no errors of its own
	return l.findings()
}

const (
	lintHead   = 256 << 10 // bytes by which a text is told from a conversation
	maxFound   = 10_000    // signals of one file, and problems
	maxFoundIn = 64 << 20  // bytes of their texts
)

// A linter gathers what is found.
type linter struct {
	scanner *Scanner
	seen    map[string]bool // fingerprints of the signals that are open: the same again is no other
	found   []Found
	bad     []Problem
	room    int // bytes that the texts of found may still take
}

func newLinter(c LintConfig) *linter {
	return &linter{scanner: NewScanner(Config{AgentID: c.Agent, AnyEscalation: true}), seen: make(map[string]bool),
		room: maxFoundIn}
}

// text reads a whole text as one message and one turn.
func (l *linter) text(r io.Reader) error {
	l.scanner.BeginMessage(Main, "")
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		l.add(l.scanner.Text(string(buf[:n])))
		switch {
		case errors.Is(err, io.EOF):
			l.add(l.scanner.EndTurn(""))
			l.problems(l.scanner.problems()...)
			return nil
		case err != nil:
			return err
		}
	}
}

func (l *linter) add(sigs []Signal) {
	for _, s := range sigs {
		key := s.Fingerprint()
		if l.seen[key] {
			continue
		}
		if len(l.seen) == maxFound {
			clear(l.seen) // one that is still open may be told twice
		}
		l.seen[key] = true
		if s.Foreign {
			l.foreign(s)
			continue
		}
		l.problems(s.Problems...)
		f, size := foundOf(s)
		if l.room -= size; len(l.found) == maxFound || l.room < 0 { // once it is spent, small ones are left out as well
			l.problems(newProblem(s.Line, "truncated", "too many signals in one file: this one is left out"))
			continue
		}
		l.found = append(l.found, f)
	}
}

// foreign tells of a signal that does not count. What else is wrong with it is not this agent's business.
func (l *linter) foreign(s Signal) {
	for _, p := range s.Problems {
		switch {
		case p.Code != "foreign":
		case s.AgentID != "" && isTemplateID(s.AgentID):
			l.problems(newProblem(p.Line, p.Code, "agent_id %s is a placeholder: the agent's own id belongs there", s.AgentID))
		default:
			l.problems(p)
		}
	}
}

// foundOf returns a signal as it is told, and how many bytes its texts take.
func foundOf(s Signal) (f Found, size int) {
	f = Found{
		Kind: s.Kind, Dialect: s.Dialect, AgentID: s.AgentID, Timestamp: s.Timestamp, Line: s.Line, EndLine: s.EndLine,
		Fields: make(map[string]string, len(s.Fields)), Questions: append([]Question{}, s.Questions...),
	}
	for _, field := range s.Fields {
		f.Fields[field.Name] = field.Value
		size += len(field.Name) + len(field.Value)
	}
	for _, q := range s.Questions {
		size += len(q.Text) + len(q.Context)
		for _, o := range q.Options {
			size += len(o.Label) + len(o.Description)
		}
	}
	return f, size
}

func (l *linter) problems(ps ...Problem) {
	for _, p := range ps {
		switch {
		case len(l.bad) < maxFound-1:
			l.bad = append(l.bad, p)
		case len(l.bad) == maxFound-1:
			l.bad = append(l.bad, newProblem(p.Line,
				"truncated", "too many problems in one file: those from here on are left out"))
		}
	}
}

func (l *linter) findings() Findings {
	slices.SortStableFunc(l.found, func(a, b Found) int { return a.Line - b.Line })
	slices.SortStableFunc(l.bad, func(a, b Problem) int { return a.Line - b.Line })
	return Findings{Signals: append([]Found{}, l.found...), Problems: append([]Problem{}, l.bad...)}
}

// isStream tells by the beginning of a file whether it holds a conversation: its lines are objects with a type, or
// entries of our log, but for a few that a shell has put between. A text that cites such lines begins with words of its
// own. whole says that the file has no more.
func isStream(head []byte, whole bool) bool {
	streamed, others, first := 0, 0, false
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		head = rest
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0:
		case isStreamLine(line, ended || whole):
			streamed++
			first = first || others == 0
		case bytes.Contains(line, []byte(`{"`)): // what was sent, as a log of both sides has it
		default:
			others++
		}
	}
	if first {
		return streamed >= others
	}
	return streamed >= 10*others && streamed > 0
}

func isStreamLine(line []byte, whole bool) bool {
	if line[0] != '{' {
		return false
	}
	if !whole {
		return bytes.Contains(line, []byte(`"type":"`)) || bytes.HasPrefix(line, []byte(`{"launch":`))
	}
	var l struct {
		SignalType *json.RawMessage `json:"signal_type"`
		Type       string
		Launch     int
		Line       *json.RawMessage
		Stderr     *json.RawMessage
	}
	if json.Unmarshal(line, &l) != nil || l.SignalType != nil {
		return false
	}
	return l.Type != "" || l.Launch > 0 && (l.Line != nil || l.Stderr != nil)
}
