package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// asking reads a control request as the questions that a person answers: those of AskUserQuestion, or that one whether another
// tool is permitted. cwd is the agent's folder. The error is for the model: why nobody is asked.
func asking(m procs.Ask, cwd string) (Asked, error) {
	if m.Name == askUserQuestion {
		qs, err := userQuestions(m.Input)
		return Asked{Kind: checkpoints.AskClarification, Questions: qs}, err
	}
	q, rule := permissionAsked(m, cwd)
	return Asked{Kind: checkpoints.AskPermission, Questions: []signals.Question{q}, Rule: rule}, nil
}

// asks reads a text signal as the questions that a person answers: a clarification is its own, a stop is one, and so is a
// delegation, anything else none.
func asks(s signals.Signal) (checkpoints.QuestionKind, []signals.Question) {
	switch s.Kind {
	case signals.Clarification:
		return checkpoints.AskClarification, inContext(s)
	case signals.Stop:
		return checkpoints.AskBlocker, []signals.Question{blockerQuestion(s)}
	case signals.Delegate:
		return checkpoints.AskDelegation, []signals.Question{delegationQuestion(workAsked(s))}
	}
	return "", nil
}

// inContext gives the questions of a clarification, each with the context that the signal gives for all.
func inContext(s signals.Signal) []signals.Question {
	context := s.Field("context")
	if context == "" {
		context = s.Field("question_context")
	}
	qs := slices.Clone(s.Questions)
	for i := range qs {
		if qs[i].Context == "" {
			qs[i].Context = context
		}
	}
	return qs
}
