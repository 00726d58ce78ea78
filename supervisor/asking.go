package supervisor

import (
	"encoding/json"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
)

// ParseAsk reads a control request as the questions that a person answers: those of AskUserQuestion or of an MCP
// server, or that one whether another tool is permitted. look shows a call to that person. The error is for the model:
// why nobody is asked.
func ParseAsk(m procs.Ask, look func(tool string, input json.RawMessage) CallView) (Asked, error) {
	if m.Elicits {
		return Asked{Kind: questions.AskElicitation, Questions: ElicitationAsked(m.Input)}, nil
	}
	if m.Name == AskUserQuestion {
		qs, err := UserQuestions(m.Input)
		return Asked{Kind: questions.AskClarification, Questions: qs}, err
	}
	seen := look(m.Name, m.Input)
	q, rule := PermissionAsked(m, seen)
	return Asked{Kind: questions.AskPermission, Questions: []signals.Question{q}, Rule: rule,
		Call: checkpoints.ToolCall{Cwd: seen.Cwd}}, nil
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

// inContext gives the questions of a clarification, each with the context that the signal gives for all.
func inContext(s signals.Signal) []signals.Question {
	context := s.Field("context")
	if context == "" {
		context = s.Field("question_context")
	}
	state := "" // in other forms it is for the agent that goes on
	if words := s.Field("current_state"); words != "" && (s.Dialect == signals.Paused || s.Dialect == signals.Awaiting) {
		state = "\nState:\n" + words
	}
	qs := slices.Clone(s.Questions)
	for i := range qs {
		if qs[i].Context == "" {
			qs[i].Context = context
		}
		qs[i].Context = strings.TrimPrefix(qs[i].Context+state, "\n")
	}
	return qs
}
