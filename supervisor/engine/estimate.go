package engine

import (
	"context"

	"claude-supervise/supervisor"
)

// waitOverdue waits until an agent's work takes longer than its estimate, by the wall clock.
func (e *engine) waitOverdue(f supervisor.Effect) func(context.Context) result {
	return e.until(f, supervisor.Overdue{Agent: f.Agent})
}
