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

// Encode writes a signal so that a scanner reads it back: kind, agent, timestamp, fields and questions. It is written
// as a block, or as one line of JSON if that is the signal's dialect, and ends with a newline. A kind that has no
// such form is an error.
func Encode(s Signal) (string, error) {
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
			encodeQuestion(&b, q, isFalse(s.Field("all_required")))
		}
	}
	fmt.Fprintf(&b, "[/%s]\n", f.name())
	return b.String(), nil
}

func encodeQuestion(b *strings.Builder, q Question, allOptional bool) {
	fmt.Fprintf(b, "  - question_id: %s\n    text: %s\n", encodeValue(q.ID), encodeValue(q.Text))
	for _, m := range []Field{{"header", q.Header}, {"context", q.Context}, {"validate", q.Validate}} {
		if m.Value != "" {
			fmt.Fprintf(b, "    %s: %s\n", m.Name, encodeValue(m.Value))
		}
	}
	if q.MultiSelect {
		b.WriteString("    multi_select: true\n")
	}
	if q.Optional && !allOptional {
		b.WriteString("    optional: true\n")
	}
	if len(q.Options) == 0 {
		return
	}
	b.WriteString("    options:\n")
	for _, o := range q.Options {
		fmt.Fprintf(b, "      - label: %s\n", encodeValue(o.Label))
		if o.Description != "" {
			fmt.Fprintf(b, "        description: %s\n", encodeValue(o.Description))
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
	return !openable[t[0]] && t[len(t)-1] != ']' && strings.TrimRight(line, " ") == line &&
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
	body := payload{fields: s.Fields}
	allOptional := isFalse(s.Field("all_required"))
	for _, q := range s.Questions {
		body.questions = append(body.questions, jsonQuestion{
			q.ID, q.Text, q.Header, q.Context, q.Options, q.MultiSelect, q.Validate, q.Optional && !allOptional,
		})
	}
	text, err := json.Marshal(struct {
		SignalType string  `json:"signal_type"`
		AgentID    string  `json:"agent_id,omitempty"`
		Timestamp  string  `json:"timestamp,omitempty"`
		Payload    payload `json:"payload"`
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
}

// A payload is a JSON object whose fields keep their order.
type payload struct {
	fields    []Field
	questions []jsonQuestion
}

func (p payload) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	b.WriteByte('{')
	member := func(name string, value any) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := enc.Encode(name); err != nil {
			return err
		}
		b.WriteByte(':')
		return enc.Encode(value)
	}
	for _, f := range p.fields {
		if err := member(f.Name, f.Value); err != nil {
			return nil, err
		}
	}
	if len(p.questions) > 0 {
		if err := member("questions", p.questions); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
