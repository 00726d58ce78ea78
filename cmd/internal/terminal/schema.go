package terminal

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
)

// A schema is the rule of a field that an MCP server asks for: "schema:" and a JSON Schema of what the protocol has of
// it.
type schema struct {
	Type      string   `json:"type"` // string, number, integer
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength *int     `json:"minLength"`
	MaxLength *int     `json:"maxLength"`
	Pattern   string   `json:"pattern"`
	Format    string   `json:"format"`
}

// schema gives the question's, if its rule is one that can be read.
func (q Question) schema() (s schema, ok bool) {
	rule, is := strings.CutPrefix(q.Validate, "schema:")
	return s, is && json.Unmarshal([]byte(rule), &s) == nil
}

// formats are what texts can be, with how a person is told of it.
var formats = map[string]struct {
	words string
	fits  func(text string) bool
}{
	"email": {"an e-mail address", func(text string) bool {
		a, err := mail.ParseAddress(text)
		return err == nil && a.Address == text
	}},
	"uri": {"an address such as https://example.com", func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Scheme != ""
	}},
	"date": {"a date such as 2026-01-31", func(text string) bool {
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	}},
	"date-time": {"a date and time such as 2026-01-31T12:00:00Z", func(text string) bool {
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	}},
}

// fits reports whether a text is what the schema asks for. A pattern that is no RE2 forbids nothing.
func (s schema) fits(text string) bool {
	switch s.Type {
	case "integer", "number":
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && (s.Type == "number" || integer().MatchString(text)) &&
			json.Valid([]byte(strings.TrimPrefix(text, "+"))) &&
			(s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
	}
	length := utf8.RuneCountInString(text)
	if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
		return false
	}
	if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(text) {
		return false
	}
	f, known := formats[s.Format]
	return !known || f.fits(text)
}

// words says what the schema asks for.
func (s schema) words() string {
	switch s.Type {
	case "integer":
		return "a whole number" + between(s.Minimum, s.Maximum, "")
	case "number":
		return "a number" + between(s.Minimum, s.Maximum, "")
	}
	words := "text"
	if f, known := formats[s.Format]; known {
		words = f.words
	}
	words += between(s.MinLength, s.MaxLength, " characters")
	if _, err := regexp.Compile(s.Pattern); err == nil && s.Pattern != "" {
		words += " that matches " + CleanLine(s.Pattern, 60)
	}
	return words
}

// between says in which bounds something is; either may be missing.
func between[N int | float64](low, high *N, of string) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(" from %v to %v%s", *low, *high, of)
	case low != nil:
		return fmt.Sprintf(" of at least %v%s", *low, of)
	case high != nil:
		return fmt.Sprintf(" of at most %v%s", *high, of)
	}
	return ""
}
