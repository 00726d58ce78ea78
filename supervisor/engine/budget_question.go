package engine

import (
	"context"
	"slices"
	"time"

	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// clock tells how long a scope is at work. It goes by a clock that neither jumps nor runs while the machine sleeps, and
// tells it once a minute at least: more than that is not lost with the supervisor.
func (e *engine) clock(f supervisor.Effect) func(context.Context) result {
	a := e.state.Agents[f.Agent]
	left := min(a.Budget.Time-a.Worked, supervisor.PollInterval)
	return func(ctx context.Context) result {
		begun := time.Now()
		_ = sleep(ctx, left) // what was worked counts, however the wait ends
		return result{event: supervisor.Worked{Agent: f.Agent, For: time.Since(begun)}}
	}
}

// askBudget names the question of a budget. What was answered in advance is the answer to the first: it raises a bound
// once.
func (e *engine) askBudget(f supervisor.Effect) func(context.Context) result {
	s, scope := e.state, e.state.Agents[f.Agent]
	return func(context.Context) result {
		return result{finish: func() supervisor.Event {
			used := s.ComputeUsage()[scope.ID].Used
			over := questions.Exceeding(*scope.Budget, used, questions.Exceeded(*scope.Budget, used))
			n := e.naming(f.Agent, questions.AskBudget, []signals.Question{s.BudgetQuestion(scope, over)}, "")
			if slices.ContainsFunc(s.FindQuestionsOf(scope.ID, supervisor.OfBudget),
				func(q *supervisor.Question) bool { return q.AnsweredAt != nil }) {
				n.Presets = nil
			}
			return supervisor.BudgetAsked{Agent: scope.ID, Naming: n}
		}}
	}
}
