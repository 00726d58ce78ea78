package signals

import (
	"strings"
	"unicode"
)

const questionEscalated = "QUESTION_ESCALATED:"

// asEscalation opens the hybrid document's (000) QUESTION_ESCALATED:ID. The question itself is in
// questions/pending/ID.json, which whoever reads the signal reads; here it has none.
func asEscalation(line string, _ bool) collector {
	id := strings.Trim(strings.TrimSpace(line[len(questionEscalated):]), "\"'`")
	if id == "" || strings.ContainsFunc(id, unicode.IsSpace) {
		return nil
	}
	return openEscalated{id: id}
}

type openEscalated struct {
	wholeLine
	id string
}

func (o openEscalated) read(c collected) (Signal, []Problem, bool) {
	// A control character would make a bad id good if it were dropped.
	id := bounded(strings.Map(func(r rune) rune {
		if isControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, o.id), maxID)
	sig := Signal{
		Kind: Clarification, Dialect: Escalated, Line: c.line, EndLine: c.line,
		Fields: []Field{{"question_id", id}},
	}
	if !isFileName(id) && !isTemplateID(id) {
		sig.problem(c.line, "bad_id", "%q cannot be a question's id: it is not a plain file name of up to %d characters",
			bounded(id, 80), maxFileName)
		sig.Questions = []Question{{
			ID: "Q1",
			Text: "The agent escalated a question that cannot be looked up: its id is not a plain file name. It wrote:\n" +
				questionEscalated + id,
		}}
	}
	return sig, nil, true
}

// printed tells the ids of a command from those of a file that it shows: the one at hand must be the one that is
// printed, as far as no variable or command puts it in.
func (o openEscalated) printed(trimmed string) bool {
	id, ok := strings.CutPrefix(trimmed, questionEscalated)
	return ok && (strings.ContainsRune(id, '$') || strings.Contains(o.id, strings.TrimSpace(id)))
}

func (o openEscalated) clone() collector { return o }

const maxFileName = 128 // bytes of a question's id

// isFileName reports whether an id can be the name of a file in the folders of questions and answers, and nowhere else.
func isFileName(id string) bool {
	if id == "" || id[0] == '.' || len(id) > maxFileName {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
