package signals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fingerprint is the same for the same signal sent again: in another dialect, at another time or place, or with its
// fields in another order. It is 64 characters of hex.
func (s Signal) Fingerprint() string {
	fields := slices.SortedStableFunc(slices.Values(s.Fields), func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(struct {
		Kind      Kind       `json:"kind"`
		AgentID   string     `json:"agent_id"`
		Fields    []Field    `json:"fields,omitempty"`
		Questions []Question `json:"questions,omitempty"`
	}{s.Kind, s.AgentID, fields, s.Questions})
	if err != nil {
		panic(err) // strings and booleans always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Encode writes a signal in its dialect, so that a scanner reads it back: kind, agent, timestamp, fields and questions.
// It ends with a newline. Without a dialect it is a block. What the dialect cannot carry, such as a report in the form
// of a question, is an error; so is the dialect Tool, which is no text.
func Encode(s Signal) (string, error) {
	var write func(Signal) (string, error)
	switch s.Dialect {
	case Awaiting:
		write = encodeAwaiting
	case Paused:
		write = encodePaused
	case Escalated:
		write = encodeEscalated
	case Marker:
		write = encodeMarker
	case TaskMetadata:
		write = encodeTask
	case Tool:
		return "", fmt.Errorf("a call of a tool is not written as text")
	default:
		return encodeForm(s)
	}
	text, err := write(s)
	if err != nil {
		return "", err
	}
	if !carries(text, s) {
		return "", fmt.Errorf("the %s form cannot carry all of this %s signal", s.Dialect, s.Kind)
	}
	return text, nil
}

// carries reports whether the text is read as the signal. The forms of the older documents have no place for much of
// what a signal can hold.
func carries(text string, s Signal) bool {
	again := Scan(text, s.AgentID)
	return len(again) == 1 && again[0].Dialect == s.Dialect && again[0].Timestamp == s.Timestamp &&
		slices.Equal(again[0].Fields, s.Fields) && again[0].Fingerprint() == s.Fingerprint()
}

// encodeForm writes a signal of the protocols document (002).
func encodeForm(s Signal) (string, error) {
	f := formNamed(string(s.Kind))
	if f == nil {
		return "", fmt.Errorf("a signal of kind %q has no block form", s.Kind)
	}
	if s.Dialect == JSON {
		return encodeJSON(s, f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", f.name())
	if s.AgentID != "" {
		fmt.Fprintf(&b, "agent_id: %s\n", encodeValue(s.AgentID))
	}
	if s.Timestamp != "" {
		fmt.Fprintf(&b, "timestamp: %s\n", encodeValue(s.Timestamp))
	}
	for _, field := range s.Fields {
		fmt.Fprintf(&b, "%s: %s\n", encodeName(f, field.Name), encodeField(field.Value))
	}
	if len(s.Questions) > 0 {
		b.WriteString("questions:\n")
		for _, q := range s.Questions {
			encodeQuestion(&b, s.alone(q))
		}
	}
	fmt.Fprintf(&b, "[/%s]\n", f.name())
	return b.String(), nil
}

// alone is a question of the signal with what it says itself, without what the signal says of all.
func (s Signal) alone(q Question) Question {
	q.Optional = q.Optional && !isFalse(s.Field("all_required"))
	q.Urgent = q.Urgent && !isTrue(s.Field("urgent"))
	return q
}

func encodeQuestion(b *strings.Builder, q Question) {
	fmt.Fprintf(b, "  - question_id: %s\n    text: %s\n", encodeValue(q.ID), encodeValue(q.Text))
	for _, m := range []Field{{"header", q.Header}, {"context", q.Context}, {"validate", q.Validate}} {
		if m.Value != "" {
			fmt.Fprintf(b, "    %s: %s\n", m.Name, encodeValue(m.Value))
		}
	}
	if q.MultiSelect {
		b.WriteString("    multi_select: true\n")
	}
	if q.Optional {
		b.WriteString("    optional: true\n")
	}
	if q.Urgent {
		b.WriteString("    urgent: true\n")
	}
	if len(q.Options) == 0 {
		return
	}
	b.WriteString("    options:\n")
	for _, o := range q.Options {
		fmt.Fprintf(b, "      - label: %s\n", encodeValue(o.Label))
		for _, m := range []Field{{"description", o.Description}, {"preview", o.Preview}} {
			if m.Value != "" {
				fmt.Fprintf(b, "        %s: %s\n", m.Name, encodeValue(m.Value))
			}
		}
	}
}

// encodeName writes a name that the document knows as it is, any other in quotes unless it is one plain word.
func encodeName(f *form, name string) string {
	if f.knows(name) || isName(name, 1) && !isNullWord(name) && len(name) < maxName {
		return name
	}
	return strconv.Quote(name)
}

// encodeField writes a value of a field: text of several lines as a block of text where that cannot be mistaken.
func encodeField(v string) string {
	lines := strings.Split(v, "\n")
	if len(lines) == 1 || lines[0] == "" {
		return encodeValue(v)
	}
	for i, line := range lines {
		if i == 0 && line[0] == ' ' || strings.TrimSpace(line) != "" && !isPlainLine(line) || line != "" && strings.TrimSpace(line) == "" {
			return encodeValue(v)
		}
	}
	return "|\n  " + strings.ReplaceAll(strings.Join(lines, "\n  "), "\n  \n", "\n\n")
}

// isPlainLine reports whether a line inside a block of text is read back as it is, and opens and closes nothing.
func isPlainLine(line string) bool {
	t := strings.TrimSpace(line)
	return !(openable[t[0]] && mayOpen(t)) && t[len(t)-1] != ']' && strings.TrimRight(line, " ") == line &&
		strings.IndexFunc(line, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}

// encodeValue writes a value on one line.
func encodeValue(v string) string {
	if isSimple(v) && !isNullWord(v) {
		return v
	}
	return strconv.Quote(v)
}

func isNullWord(s string) bool { return s == "null" || s == "Null" || s == "NULL" }

func encodeJSON(s Signal, f *form) (string, error) {
	var body object
	for _, m := range s.Fields {
		body = append(body, objectMember{m.Name, m.Value})
	}
	var questions []jsonQuestion
	for _, q := range s.Questions {
		questions = append(questions, jsonQuestion(s.alone(q)))
	}
	if len(questions) > 0 {
		body = append(body, objectMember{"questions", questions})
	}
	text, err := json.Marshal(struct {
		SignalType string `json:"signal_type"`
		AgentID    string `json:"agent_id,omitempty"`
		Timestamp  string `json:"timestamp,omitempty"`
		Payload    object `json:"payload"`
	}{f.name(), s.AgentID, s.Timestamp, body})
	return string(text) + "\n", err
}

type jsonQuestion struct {
	ID          string   `json:"question_id"`
	Text        string   `json:"text"`
	Header      string   `json:"header,omitempty"`
	Context     string   `json:"context,omitempty"`
	Options     []Option `json:"options,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
	Validate    string   `json:"validate,omitempty"`
	Optional    bool     `json:"optional,omitempty"`
	Urgent      bool     `json:"urgent,omitempty"`
}

// An object is a JSON object whose members keep their order.
type object []objectMember

type objectMember struct {
	name  string
	value any
}

// add adds a member unless its value is empty.
func (o *object) add(name, value string) {
	if value != "" {
		*o = append(*o, objectMember{name, value})
	}
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
