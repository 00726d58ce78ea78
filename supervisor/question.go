package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// Open is the state of a question that waits for its answer.
const Open = checkpoints.QuestionOpen

// leftState takes note of the checkpoint that a signal names. Where it cannot be used, the person is told.
func (d *transition) leftState(q *Question, kept *checkpoints.Kept) {
	switch {
	case kept == nil:
	case kept.Copy != "":
		q.Kept, d.agent(q.Agent).Kept = kept, kept
	default:
		q.Kept = kept
		q.Context = strings.TrimSpace(q.Context + "\nIts checkpoint cannot be used: " + kept.Problem +
			".\nAnswered, it continues without it.")
	}
}

// ParseQuestions reads a text signal as the questions that a person answers: a clarification is its own, a stop is one,
// and so is a delegation, anything else none.
func ParseQuestions(s signals.Signal) (checkpoints.QuestionKind, []signals.Question) {
	for kind, h := range handlers {
		if h.asked != nil && h.signal == s.Kind {
			return kind, h.asked(s)
		}
	}
	return "", nil
}
