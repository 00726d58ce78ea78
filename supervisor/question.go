package supervisor

import (
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
)

// Open is the state of a question that waits for its answer.
const Open = checkpoints.QuestionOpen

// OnlyTells reports whether the answer to a question tells the agent something, and has nothing done.
func OnlyTells(q *Question) bool { return questions.KindOf(q.Kind).Tells }

// OfBudget reports whether a question is about a budget.
func OfBudget(q *Question) bool { return q.Kind == questions.AskBudget }

// begunAnswer reports whether the conversation has the answer to a question, though the turn that it began goes on.
func (s State) begunAnswer(q *Question) bool {
	l := s.Live(q.Agent)
	return l != nil && len(s.FindDeliveries(q.Agent, func(v *Delivery) bool {
		return v.State == checkpoints.DeliveryStarted && v.Launch == l.N && slices.Contains(v.Groups, q.Group)
	})) > 0
}

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

// Posted reports whether a question lies in the folder under its own id: those that anybody may answer, and that have
// no file of their agent's.
func Posted(q *Question) bool {
	return q.File == nil && questions.KindOf(q.Kind).Posted
}
