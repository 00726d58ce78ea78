package client

import (
	"context"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// checkDecision refuses what is no decision on what is asked for.
func (c Client) checkDecision(ctx context.Context, id string, a Answer) error {
	if a.Decline || a.Skip {
		return nil
	}
	q, err := view.Question(ctx, c.Store, id)
	if err != nil {
		return nil // who leaves the answer tells what is wrong
	}
	if a.AllLike && !supervisor.Sharable(q.Kind) {
		return fmt.Errorf("the answer to a question of this kind (%s) is for it alone", q.Kind)
	}
	switch q.Kind {
	case checkpoints.AskPermission, checkpoints.AskDelegation, checkpoints.AskBudget:
	default:
		return nil
	}
	cwd, err := c.FolderOf(ctx, q.Run, q.Agent)
	if err != nil {
		return err
	}
	return supervisor.CheckDecision(q, a.Text, cwd)
}
