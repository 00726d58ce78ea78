package signals

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// This file reads the question that does not stop the work: one of "wait: false" (ask_user) or "blocking: false" (the
// block), with the assumption under which its agent goes on.

// maxAffects is how many paths of one question are read.
const maxAffects = 50

// GoesOn reports whether a clarification says that its agent does not wait for the answer. Where its question has no
// Assumption, it has to all the same.
func (s Signal) GoesOn() bool {
	return s.Kind == Clarification && (s.Dialect == Block || s.Dialect == JSON || s.Dialect == Tool) &&
		(isFalse(s.Field("wait")) || isFalse(s.Field("blocking")))
}

// assume gives the question of a clarification that does not block its assumption. One that has none, or several
// questions, blocks.
func (s *Signal) assume(members []member) {
	if !s.GoesOn() {
		return
	}
	assumption := strings.TrimSpace(s.Field("assumption"))
	switch {
	case len(s.Questions) != 1:
		s.problem(s.Line, "bad_value", "%d questions block, whatever the signal says: one that does not stands alone",
			len(s.Questions))
	case assumption == "":
		s.problem(s.Line, "missing_field", "assumption is missing, so the question blocks")
	default:
		q := &s.Questions[0]
		q.Assumption = assumption
		for _, m := range members {
			if m.name == "affects" {
				q.Affects = s.paths(m)
			}
		}
	}
}

// paths reads a list of paths, or a text with one a line or between commas.
func (s *Signal) paths(m member) (paths []string) {
	texts := strings.FieldsFunc(m.text(), func(r rune) bool { return r == '\n' || r == ',' })
	if m.node != nil && m.node.Kind == yaml.SequenceNode {
		texts = nil
		for _, item := range m.node.Content {
			texts = append(texts, nodeText(item))
		}
	}
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(paths, t) {
			paths = append(paths, t)
		}
	}
	if len(paths) > maxAffects {
		s.problem(m.line, "truncated", "only the first %d paths of affects are kept", maxAffects)
		paths = paths[:maxAffects]
	}
	return paths
}
