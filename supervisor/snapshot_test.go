package supervisor

import (
	"slices"
	"testing"
	"time"
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

// Where no turn ends, as while a question is held, a snapshot that has failed is tried again all the same: after a
// minute, and less often each time.
func TestAFailedSnapshotIsTriedAgainThoughNoTurnEnds(t *testing.T) {
	s := Begin(t, func(c *Config) { c.Snapshots = &SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash())
	fails := func() {
		s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At, Problem: "no space left on device", Large: true})
		if s.State.SnapshotDue() || !s.State.Run.Snapshots.TooLarge {
			t.Errorf("it has failed, and is %+v", s.State.Run.Snapshots)
		}
	}
	fails()
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		s.At = s.At.Add(minutes*time.Minute - 3*time.Second)
		if s.try(SnapshotRetried{}) {
			t.Errorf("it is tried again before %d minutes are over", minutes)
		}
		s.At = s.At.Add(3 * time.Second)
		s.Do(SnapshotRetried{})
		if !s.State.SnapshotDue() {
			t.Fatal("it is tried again, and not due")
		}
		fails()
	}
	s.At = s.At.Add(time.Hour)
	s.Do(SnapshotRetried{})
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At})
	if r := s.State.Run.Snapshots; r.Problem != "" || r.TooLarge || r.TriedAt != nil || r.Failures != 0 {
		t.Errorf("there is one, and it is %+v", r)
	}
	s.At = s.At.Add(24 * time.Hour)
	if s.try(SnapshotRetried{}) {
		t.Error("one that has not failed is tried again")
	}
}
