package supervisor

import (
	"maps"
	"slices"
	"testing"
	"time"

	"claude-supervise/supervisor/table"

	"claude-supervise/checkpoints"
)

// indexHolds says where the index of a state is not what its records make; "" if nowhere.
func indexHolds(s State) string {
	kept, made := s.indexed(), fresh(s).indexed()
	for what, of := range map[string]func(*index) table.Table[string]{
		"the order of the agents":      func(x *index) table.Table[string] { return x.order },
		"children":                     func(x *index) table.Table[string] { return x.children },
		"questions":                    func(x *index) table.Table[string] { return x.questions },
		"deliveries":                   func(x *index) table.Table[string] { return x.deliveries },
		"who has a process":            func(x *index) table.Table[string] { return x.active },
		"who waits for a process":      func(x *index) table.Table[string] { return x.queued },
		"whose end a client waits for": func(x *index) table.Table[string] { return x.clients },
		"questions after which something is to be done": func(x *index) table.Table[string] { return x.pending },
	} {
		if !maps.Equal(maps.Collect(of(kept).All()), maps.Collect(of(made).All())) {
			return what
		}
	}
	switch {
	case kept.seq != made.seq:
		return "the newest delivery"
	case kept.scopes != made.scopes:
		return "the budgets"
	}
	return ""
}

func TestTwoStepsFromOneStateDoNotShareAnIndex(t *testing.T) {
	before := NewTransition(State{
		Run: &Run{ID: RunID, Root: Root}, Agents: table.Of(map[string]*Agent{Root: {ID: Root}}),
	}, time.Time{}).State
	for _, id := range []string{"a-1", "a-2", "a-3"} {
		d := NewTransition(before, time.Time{})
		d.addAgent(&Agent{ID: id, Parent: Root})
		d.addQuestion(&Question{ID: "q-" + id, Agent: id})
		d.addDelivery(&Delivery{UUID: "u-" + id, Agent: id})
		d.addDelivery(&Delivery{UUID: "u-" + id, Agent: id}) // made again
		if wrong := indexHolds(d.State); wrong != "" {
			t.Errorf("with %s: %s", id, wrong)
		}
		if id == "a-2" {
			before = d.State
		}
	}
	if wrong := indexHolds(before); wrong != "" {
		t.Error(wrong)
	}
	if got := slices.Collect(before.indexed().children.Values()); !slices.Equal(got, []string{"a-2"}) {
		t.Errorf("children %v", got)
	}
}

// A run is finishing when nothing else can come of it: a question, or an agent with more to do, keeps it from that.
func TestARunIsFinishingOnceOnlyProcessesHaveToEnd(t *testing.T) {
	ending := func(s State, agent string) State {
		d := NewTransition(s, s.Run.StartedAt)
		d.last(agent).End = EndFinish
		return d.State
	}
	done := ending(askedBefore(1), Root)
	asks := NewTransition(done, done.Run.StartedAt)
	asks.addQuestion(&Question{ID: "q-open", Agent: Root, State: checkpoints.QuestionOpen})
	asks.reindex()
	waits := NewTransition(done, done.Run.StartedAt)
	waits.addAgent(&Agent{ID: "a-2", Parent: Root, QueuedAt: &done.Run.StartedAt})
	waits.reindex()
	gone := NewTransition(done, done.Run.StartedAt)
	gone.last(Root).Phase = checkpoints.LaunchEnded
	gone.reindex()
	stops := NewTransition(done, done.Run.StartedAt)
	stops.last(Root).End = endStop
	for name, c := range map[string]struct {
		state State
		want  bool
	}{
		"at work":                      {askedBefore(1), false},
		"its work is done":             {done, true},
		"and it has asked":             {asks.State, false},
		"and another waits for a slot": {waits.State, false},
		"and its process has ended":    {gone.State, false},
		"it is stopped":                {stops.State, false},
		"one of two is done":           {ending(atWork(1), Root), false},
		"both are":                     {ending(ending(atWork(1), Root), "a-000000000000"), true},
	} {
		if got := c.state.Finishing(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
