package supervisor

import (
	"fmt"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// BenchmarkTurnBesideManyAgents is what a turn of one agent costs, two events with all that the engine asks of the core,
// in a run of so many others at work.
func BenchmarkTurnBesideManyAgents(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := atWork(n)
			at := s.Run.StartedAt.Add(time.Hour)
			do := func(s State, body Event) State {
				h := Happened{At: at, Event: body}
				next, err := Step(s, h)
				if err != nil {
					b.Fatal(err)
				}
				records.Changes(s.Records, next.Records)
				Notifications(s, next, h)
				MustCheckInbox(s, next, h)
				if len(next.Plan(nil).Agents) != n+1 {
					b.Fatal("each agent has its part of the plan")
				}
				return next
			}
			for b.Loop() {
				do(do(s, TurnEnded{Agent: Root, Launch: 1}), TurnBegun{Agent: Root, Launch: 1})
			}
		})
	}
}

// atWork is a run of a root and n children, all of them in a turn.
func atWork(n int) State {
	s := askedBefore(0)
	s.Config.SilentAfter = time.Hour
	for i := range n {
		id := fmt.Sprintf("a-%012d", i)
		a := *s.Agents.Get(Root)
		a.ID, a.Parent, a.Seq, a.Depth = id, Root, i+1, 1
		a.Delegated = &checkpoints.Delegated{}
		l := *s.Launches.Get(Root)[0]
		l.Agent = id
		s.Agents.Put(id, &a)
		s.Launches.Put(id, []*Launch{&l})
	}
	return fresh(s)
}

// fresh is a state whose records a test has changed, with what follows from them.
func fresh(s State) State {
	s.plans = table.Table[*effect.Part]{}
	s.Reindex()
	s.plans = s.planned()
	return s
}
