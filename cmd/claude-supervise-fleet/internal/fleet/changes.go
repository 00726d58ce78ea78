package fleet

import (
	"context"
	"fmt"
	"math"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

const (
	// AsksEvery is how often it is asked which runs have changed: that costs the server as much as have.
	AsksEvery = time.Second
	// lateFor is for how many such times a change is asked for again: a list may have a later one before it.
	lateFor = 5
)

// Changes are what changes in a fleet, as far as its runs say when they change. To ask is for one goroutine at a time.
type Changes struct {
	newest [lateFor]time.Time // the latest change that was known, when it was asked last, and before that
}

// ChangesAfter are those after a time of the server's.
func ChangesAfter(at time.Time) (c Changes) {
	for i := range c.newest {
		c.newest[i] = at.Add(-lateFor * AsksEvery)
	}
	c.newest[0] = at
	return c
}

// Ask returns the runs that have changed, those that have ended since included: some again that were returned before,
// as they were. Runs that do not say when (flow.Listed.Changed) are not among them.
func (c *Changes) Ask(ctx context.Context, f Fleet) ([]flow.Listed, error) {
	changed, err := f.list(ctx, fmt.Sprintf("%s AND %s > '%s'", anyRun, flow.AttributeChanged,
		c.newest[lateFor-1].UTC().Format(time.RFC3339Nano)), math.MaxInt, nil)
	if err != nil {
		return nil, err
	}
	copy(c.newest[1:], c.newest[:lateFor-1])
	for _, l := range changed {
		if l.Changed.After(c.newest[0]) {
			c.newest[0] = l.Changed
		}
	}
	return changed, nil
}
