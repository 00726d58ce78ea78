package view

import (
	"strings"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// maxAffects is how much of what an assumption affects is named.
const maxAffects = 3

// AssumedInWords says with what an agent goes on that does not wait for the answer, and what has become of that.
func AssumedInWords(q QuestionView) string {
	say := "It works on meanwhile, and assumes: "
	switch questions.Verdict(q.Verdict) {
	case questions.Confirmed:
		say = "It worked on meanwhile, and you confirmed what it assumed: "
	case questions.Corrected:
		say = "It worked on meanwhile, and you corrected what it assumed: "
	case questions.Left:
		say = "It worked on meanwhile, and what it assumed stands: "
	case questions.Withdrawn:
		say = "It worked on meanwhile, and nobody has said whether this holds: "
	}
	say += q.Assumption
	if len(q.Affects) > 0 {
		say += "\nIts work under this is in " + strings.Join(text.FirstOf(q.Affects, maxAffects), ", ") + "."
	}
	return say
}
