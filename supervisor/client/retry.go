package client

import (
	"context"
	"fmt"
)

// A NothingLeftError means that there is nothing in a run to go on with, or to try again.
type NothingLeftError struct{ Reason string }

// Error says so of the run.
func (e *NothingLeftError) Error() string { return e.Reason }

func nothingLeft(format string, args ...any) error {
	return &NothingLeftError{Reason: fmt.Sprintf(format, args...)}
}

// Retryable is Resumable for resume --failed: the error is a NothingLeftError where nothing in the run has failed.
func (c Client) Retryable(ctx context.Context, id string) (ResumePlan, error) {
	s, err := c.takeable(ctx, id)
	if err != nil {
		return ResumePlan{}, err
	}
	if !s.Retries() {
		return ResumePlan{}, nothingLeft("nothing in %s has failed, so there is nothing to retry; it is %s: %s",
			s.Run.ID, s.Run.Status, s.Run.Reason)
	}
	return c.resumePlan(ctx, s)
}
