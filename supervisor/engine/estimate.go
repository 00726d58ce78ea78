package engine

import (
	"context"

	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// waitOverdue waits until an agent's work takes longer than its estimate, by the wall clock, and names the question
// about it.
func (e *engine) waitOverdue(f supervisor.Effect) func(context.Context) result {
	wait := e.until(f, supervisor.Overdue{Agent: f.Agent})
	return func(ctx context.Context) result {
		r := wait(ctx)
		if r.event == nil {
			return r
		}
		return result{finish: func() supervisor.Event {
			asked := e.state.OverrunQuestion(e.state.Agents[f.Agent])
			return supervisor.Overdue{Agent: f.Agent,
				Naming: e.naming(f.Agent, questions.AskOverrun, []signals.Question{asked}, "")}
		}}
	}
}
