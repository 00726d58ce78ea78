package client

import (
	"context"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

// checkDecision refuses what is no decision on what is asked for.
func (c Client) checkDecision(ctx context.Context, q *supervisor.Question, a Answer) error {
	if a.Decline || a.Skip {
		return nil
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
