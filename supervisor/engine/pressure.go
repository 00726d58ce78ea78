package engine

import (
	"context"

	"claude-supervise/supervisor"
)

func (e *engine) ease(f supervisor.Effect) func(context.Context) result {
	return e.until(f, supervisor.Unthrottled{})
}
