package prompts

import (
	"strings"

	"claude-supervise/checkpoints"
)

// InLine is a text as an answer file holds it.
func InLine(text string) string {
	return strings.TrimSpace(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }),
		" "))
}

// AnswersInOne returns the answers of a group as one text, for a script that has room for one.
func AnswersInOne(group []*checkpoints.Question) string {
	if len(group) == 1 {
		return Answer(group[0])
	}
	return string(AnswersByID(group))
}
