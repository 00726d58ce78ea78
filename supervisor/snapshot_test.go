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

// A snapshot that was not taken for want of a lease is planned again once the run is known to be this supervisor's, and
// not before.
func TestASnapshotWaitsForTheLease(t *testing.T) {
	s := Begin(t, func(c *Config) { c.Snapshots = &SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash())
	planned := func() bool {
		return slices.ContainsFunc(Plan(s.State), func(e Effect) bool { return e.Do == DoSnapshot })
	}
	s.Do(Snapshotted{Unleased: "the lease has run out"})
	if planned() || !s.State.SnapshotDue() {
		t.Error("without a lease it is planned, or it is not due any more")
	}
	s.Do(LeaseRead{})
	if !planned() {
		t.Error("with the lease it is not planned")
	}
}

// What an agent at rest asks, as for more than its budget, is in no snapshot that was taken before: one is taken before
// the supervisor leaves.
func TestASnapshotIsDueWhenAnAgentAtRestAsks(t *testing.T) {
	s := Begin(t, func(c *Config) {
		c.Snapshots, c.Budget, c.OnQuestion = &SnapshotTo{Dir: "/snapshots", Keep: 3}, Budget{CostUSD: 1}, Park
	})
	s.spentShare(1, 1.1)
	s.Ends()
	s.Rests(true)
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet})
	if s.State.SnapshotDue() {
		t.Fatal("one is due before it asks")
	}
	s.asksBudget(Root, "q-1")
	s.Do(NotificationSent{Question: "q-1"})
	s.plans("snapshot 2")
	s.plansNot("leave")
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet})
	s.plans("leave")
}
