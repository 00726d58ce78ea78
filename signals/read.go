package signals

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

func newProblem(line int, code, format string, args ...any) Problem {
	return Problem{Line: line, Code: code, Message: bounded(cleanText(fmt.Sprintf(format, args...)), 300)}
}

func (s *Signal) problem(line int, code, format string, args ...any) {
	if len(s.Problems) < maxStrays {
		s.Problems = append(s.Problems, newProblem(max(line, s.Line), code, format, args...)) // members of JSON have no line
	}
}

func (s *Signal) markCut(c collected) {
	if c.cut {
		s.problem(c.line, "truncated", "only about the first %d bytes of this signal are kept", MaxBlock)
	}
}

// isEmpty reports whether nothing at all was said.
func (s *Signal) isEmpty() bool {
	return s.AgentID == "" && s.Timestamp == "" && len(s.Fields) == 0 && len(s.Questions) == 0
}

// fill makes a signal of the members that were read, and checks them against the form. raw is what to show a person
// where nothing else can be read.
func (s *Signal) fill(f *form, members []member, raw string) {
	if f.kind == Clarification {
		members = gathered(members)
	}
	last := make(map[string]int, len(members))
	for i := range members {
		m := &members[i]
		m.name = f.canonical(cleanText(m.name))
		if _, twice := last[m.name]; twice {
			s.problem(m.line, "duplicate_key", "%s is given twice: this one counts", m.name)
		}
		last[m.name] = i
	}
	asked := false
	for i, m := range members {
		if last[m.name] != i {
			continue
		}
		switch {
		case m.name == "agent_id":
			s.AgentID = cleanID(m.text())
		case m.name == "timestamp":
			s.Timestamp = m.text()
			if !isTimestamp(s.Timestamp) {
				s.problem(m.line, "bad_timestamp", "%q is not an ISO 8601 time", bounded(s.Timestamp, 80))
			}
		case m.name == "questions" && f.kind == Clarification:
			asked = true
			s.readQuestions(m)
		default:
			s.field(f, m)
		}
	}
	if f.kind == Clarification && (asked || !s.isEmpty()) {
		s.finishQuestions(asked, raw)
		s.assume(members)
	}
	s.checkRequired(f, last)
}

func (s *Signal) field(f *form, m member) {
	value := m.text()
	if allowed := f.values[m.name]; allowed != nil && value != "" {
		if i := slices.IndexFunc(allowed, func(v string) bool { return strings.EqualFold(v, snakeValue(value)) }); i >= 0 {
			value = allowed[i]
		} else {
			s.problem(m.line, "bad_value", "%s is %q, not one of %s", m.name, bounded(value, 80), strings.Join(allowed, ", "))
		}
	}
	if f.kind == Progress && m.name == "percent" && value != "" {
		if p, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "%")), 64); err != nil ||
			!(p >= 0 && p <= 100) {
			s.problem(m.line, "bad_value", "percent is %q, not a number from 0 to 100", bounded(value, 80))
		}
	}
	s.Fields = append(s.Fields, Field{Name: m.name, Value: value})
}

// snakeValue spells one of a field's fixed values the way the document does: "partial success" and `partial-success`
// are partial_success.
func snakeValue(v string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.Trim(v, "`*\"'“”„‘’,"))
}

func (s *Signal) checkRequired(f *form, have map[string]int) {
	if s.AgentID == "" && !f.nameless {
		s.problem(s.Line, "missing_field", "agent_id is missing, so this counts only at the end of a turn")
	}
	if _, ok := have["timestamp"]; !ok && f.mustStamp {
		s.problem(s.Line, "missing_field", "timestamp is missing")
	}
	for _, name := range f.required {
		missing := s.Field(name) == ""
		if name == "questions" {
			_, given := have[name]
			missing = !given
		}
		if missing {
			s.problem(s.Line, "missing_field", "%s is missing", name)
		}
	}
}

// cleanID is an agent's id without what agents put around it: a comment, quotes, marks of Markdown.
func cleanID(id string) string {
	id, _, _ = strings.Cut(strings.TrimSpace(cleanText(id)), "\n")
	id, _, _ = strings.Cut(id, " #")
	id = strings.TrimFunc(bounded(id, maxID), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`*“”„‘’,", r)
	})
	if strings.HasPrefix(id, "#") || strings.EqualFold(id, "null") || id == "~" {
		return ""
	}
	return id
}

const maxID = 256 // bytes of an agent's id

// timestamps are the shapes of ISO 8601 that agents write; a blank for the T is what RFC 3339 allows.
var timestamps = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
	"2006-01-02T15:04:05.999999999Z0700", "20060102T150405Z0700", "20060102T150405",
}

func isTimestamp(s string) bool {
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	return slices.ContainsFunc(timestamps, func(layout string) bool {
		_, err := time.Parse(layout, s)
		return err == nil
	})
}
