package client

import (
	"context"
	"fmt"
)

// Retryable is Resumable for resume --failed: the error says so where nothing in the run has failed.
func (c Client) Retryable(ctx context.Context, id string) (ResumePlan, error) {
	s, err := c.takeable(ctx, id)
	if err != nil {
		return ResumePlan{}, err
	}
	if !s.Retries() {
		return ResumePlan{}, fmt.Errorf("nothing in %s has failed, so there is nothing to retry; it is %s: %s",
			s.Run.ID, s.Run.Status, s.Run.Reason)
	}
	return c.resumePlan(ctx, s)
}
