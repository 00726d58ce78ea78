package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/table"
)

// The engine begins effects in the order of the plan: what a snapshot holds back must not be begun just before it.
func TestASnapshotIsPlannedBeforeWhatItHoldsBack(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash()) // which is a moment to take one
	s.Rests(false)
	s.Do(RetryDue{Agent: Root})
	plan := Plan(s.State)
	if len(plan) < 2 || plan[0].Do != effect.Snapshot || !slices.ContainsFunc(plan[1:], func(e effect.Effect) bool {
		return e.Do.NeedsLease()
	}) {
		t.Errorf("the plan is %v", plan)
	}
}

// A snapshot that was not taken for want of a lease is planned again once the run is known to be this supervisor's, and
// not before.
func TestASnapshotWaitsForTheLease(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash())
	planned := func() bool {
		return slices.ContainsFunc(Plan(s.State), func(e effect.Effect) bool { return e.Do == effect.Snapshot })
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
	s := Begin(t, func(c *conf.Config) {
		c.Snapshots, c.Budget, c.OnQuestion = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3}, conf.Budget{CostUSD: 1}, conf.Park
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
// minute, and less often each time. A supervisor that leaves does not wait for that.
func TestAFailedSnapshotIsTriedAgainThoughNoTurnEnds(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash())
	fails := func() {
		s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At, Problem: "no space left on device", Large: true})
		if s.State.SnapshotDue() || !s.State.Run.Snapshots.TooLarge {
			t.Errorf("it has failed, and is %+v", s.State.Run.Snapshots)
		}
	}
	planned := func() *effect.Effect {
		for _, e := range Plan(s.State) {
			if e.Do == effect.Snapshot {
				return &e
			}
		}
		return nil
	}
	if e := planned(); e == nil || !e.Until.IsZero() {
		t.Errorf("the first is not tried at once: %+v", e)
	}
	fails()
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		if e := planned(); e == nil || !e.Until.Equal(s.At.Add(minutes*time.Minute)) || !s.State.SnapshotTaken() {
			t.Fatalf("it is not tried again after %d minutes: %+v", minutes, e)
		}
		s.At = s.At.Add(minutes * time.Minute)
		fails()
	}
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At})
	if r := s.State.Run.Snapshots; r.Problem != "" || r.TooLarge || r.TriedAt != nil || r.Failures != 0 ||
		planned() != nil {
		t.Errorf("there is one, and it is %+v", r)
	}
}

func TestASupervisorThatLeavesTriesAFailedSnapshotOnce(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3} })
	s.dies(crash())
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At, Problem: "no space left on device"})
	s.Do(InterruptAsked{By: "a test"})
	if again := s.State.SnapshotAgain(); !again.IsZero() {
		t.Errorf("it waits until %s", again)
	}
	s.plansNot("snapshot 2")
}

// Who has answered here is told what becomes of it where the run was lost: on a fleet the worker hands it in.
func TestItIsSaidWhatBecomesOfAnAnswerWhereTheRunWasLost(t *testing.T) {
	s := Begin(t, func(c *conf.Config) {
		c.Snapshots, c.Budget = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3}, conf.Budget{CostUSD: 1}
	})
	s.spentShare(1, 1.1)
	s.Ends()
	s.Rests(true)
	s.asksBudget(Root, "q-1")
	q, at := *s.State.Questions.Get("q-1"), s.At.Add(time.Hour)
	q.AnsweredAt, q.Answer = &at, "2"
	before := s.State
	before.Questions = table.Of(map[string]*Question{"q-1": &q})
	for leased, want := range map[bool]string{false: "give it again where the run continues",
		true: "is handed in by this machine's worker"} {
		e := LeaseRead{Over: &checkpoints.TakenOver{Epoch: 2, By: "another", At: at, In: "/snapshots/r", Leased: leased}}
		after, err := Step(before, Happened{At: at, Event: e})
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		for _, n := range Notifications(before, after, Happened{At: at, Event: e}) {
			told.WriteString(n.Text + "\n")
		}
		if !strings.Contains(told.String(), "the answer to q-1 (2) came after the last snapshot") ||
			strings.Count(told.String(), want) != 1 || leased == strings.Contains(told.String(), "give it again") {
			t.Errorf("leased %t: %s", leased, told.String())
		}
	}
}

// The turn of a script that polls for its answer does not end before it has it: on a fleet a question is listed once a
// snapshot has it.
func TestASnapshotIsDueWhenAScriptPollsForAnAnswerInItsTurn(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3} })
	if s.State.AtRest(Root) || s.State.SnapshotDue() {
		t.Fatal("it is at rest, or one is due before it asks")
	}
	s.polled()
	if s.State.AtRest(Root) {
		t.Error("it is at rest")
	}
	s.plans("snapshot 1")
	s.Do(Snapshotted{Quiet: s.State.Run.Snapshots.Quiet, At: s.At, Lost: []string{Root}})
	s.Do(NotificationSent{Question: "q-1"})
	if s.State.SnapshotDue() {
		t.Error("one is due again though nothing was asked since")
	}
}
