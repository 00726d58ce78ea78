package client

import (
	"context"

	"claude-supervise/supervisor"
)

// State loads a run.
func (c Client) State(ctx context.Context, run string) (supervisor.State, error) {
	l, err := c.Store.Load(ctx, run)
	if err != nil {
		return supervisor.State{}, err
	}
	return supervisor.Loaded(l)
}
