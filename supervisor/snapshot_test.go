package supervisor

import (
	"slices"
	"testing"
)

// The engine begins effects in the order of the plan: what a snapshot holds back must not be begun just before it.
func TestASnapshotIsPlannedBeforeWhatItHoldsBack(t *testing.T) {
	s := Begin(t, func(c *Config) { c.Snapshots = &SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash()) // which is a moment to take one
	s.Rests(false)
	s.Do(RetryDue{Agent: Root})
	plan := Plan(s.State)
	if len(plan) < 2 || plan[0].Do != DoSnapshot || !slices.ContainsFunc(plan[1:], func(e Effect) bool {
		return e.Do.NeedsLease()
	}) {
		t.Errorf("the plan is %v", plan)
	}
}
