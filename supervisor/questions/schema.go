package questions

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"claude-supervise/supervisor/text"
)

// A Schema is the rule of a field that an MCP server asks for: what the protocol has of a JSON Schema.
type Schema struct {
	Type string   `json:"type"`           // string, number, integer
	Step *float64 `json:"step,omitempty"` // of a number, from Minimum, or else from 0
	Unit string   `json:"unit,omitempty"` // of a number, for people
	Bounds
}

// Bounds are what may be typed by a Schema. It is the person's terminal that holds an answer to them.
type Bounds struct {
	Minimum   *float64 `json:"minimum,omitempty"`
	Maximum   *float64 `json:"maximum,omitempty"`
	MinLength *int     `json:"minLength,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	Format    string   `json:"format,omitempty"`
}

// schemaMark begins Terms.Validate where a Schema as JSON follows.
const schemaMark = "schema:"

// Validate returns the rule as Terms has it.
func (s Schema) Validate() string { return schemaMark + string(text.JSON(s)) }

// schema returns the question's, if its rule is one that can be read.
func (q Terms) schema() (s Schema, ok bool) {
	rule, is := strings.CutPrefix(q.Validate, schemaMark)
	return s, is && json.Unmarshal([]byte(rule), &s) == nil
}

// number reports whether a number is asked for: one that is typed is a value, and no key of an option.
func (q Terms) number() bool {
	s, ok := q.schema()
	return q.Validate == "integer" || ok && s.Type != "string"
}

// formats are what texts can be, with how a person is told of it.
var formats = map[string]struct {
	words string
	fits  func(said string) bool
}{
	"email": {"an e-mail address", func(said string) bool {
		a, err := mail.ParseAddress(said)
		return err == nil && a.Address == said
	}},
	"uri": {"an address such as https://example.com", func(said string) bool {
		u, err := url.Parse(said)
		return err == nil && u.Scheme != ""
	}},
	"date": {"a date such as 2026-01-31", func(said string) bool {
		_, err := time.Parse(time.DateOnly, said)
		return err == nil
	}},
	"date-time": {"a date and time such as 2026-01-31T12:00:00Z", func(said string) bool {
		_, err := time.Parse(time.RFC3339, said)
		return err == nil
	}},
}

// fits reports whether a text is what the schema asks for. A pattern that is no RE2 forbids nothing.
func (s Schema) fits(said string) bool {
	switch s.Type {
	case "integer", "number":
		n, err := strconv.ParseFloat(said, 64)
		return err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && (s.Type == "number" || integer().MatchString(said)) &&
			json.Valid([]byte(strings.TrimPrefix(said, "+"))) &&
			(s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum) && s.stepped(n)
	}
	length := utf8.RuneCountInString(said)
	if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
		return false
	}
	if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(said) {
		return false
	}
	f, known := formats[s.Format]
	return !known || f.fits(said)
}

// stepped reports whether a number is a step of the schema's, as near as floating point can tell. A step that is none
// forbids nothing.
func (s Schema) stepped(n float64) bool {
	if s.Step == nil || *s.Step <= 0 {
		return true
	}
	from := 0.0
	if s.Minimum != nil {
		from = *s.Minimum
	}
	steps := (n - from) / *s.Step
	return math.Abs(steps-math.Round(steps)) < 1e-12*max(1e3, math.Abs(steps))
}

// words says what the schema asks for.
func (s Schema) words() string {
	switch s.Type {
	case "integer":
		return "a whole number" + between(s.Minimum, s.Maximum, "") + s.stepsAndUnit()
	case "number":
		return "a number" + between(s.Minimum, s.Maximum, "") + s.stepsAndUnit()
	}
	words := "text"
	if f, known := formats[s.Format]; known {
		words = f.words
	}
	words += between(s.MinLength, s.MaxLength, " characters")
	if _, err := regexp.Compile(s.Pattern); err == nil && s.Pattern != "" {
		words += " that matches " + text.CleanLine(s.Pattern, 60)
	}
	return words
}

func (s Schema) stepsAndUnit() (words string) {
	if s.Step != nil && *s.Step > 0 && (s.Type != "integer" || *s.Step != 1) {
		words = " in steps of " + plain(*s.Step)
	}
	if unit := text.CleanLine(s.Unit, 0); unit != "" {
		words += " (" + unit + ")"
	}
	return words
}

// plain writes a number as a person does, as long as that is short.
func plain[N int | float64](n N) string {
	if f := float64(n); math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(n)
}

// between says in which bounds something is; either may be missing.
func between[N int | float64](low, high *N, of string) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(" from %s to %s%s", plain(*low), plain(*high), of)
	case low != nil:
		return fmt.Sprintf(" of at least %s%s", plain(*low), of)
	case high != nil:
		return fmt.Sprintf(" of at most %s%s", plain(*high), of)
	}
	return ""
}
