package supervisor

import (
	"maps"
	"slices"
	"testing"
	"time"

	"claude-supervise/checkpoints"
)

// indexHolds says where the index of a state is not what its records make; "" if nowhere.
func indexHolds(s State) string {
	kept := s.indexed()
	s.index = nil
	made := s.indexed()
	switch {
	case !slices.Equal(kept.order, made.order):
		return "the order of the agents"
	case !maps.Equal(kept.place, made.place):
		return "the places of the agents"
	case kept.seq != made.seq:
		return "the newest delivery"
	case !maps.Equal(kept.active, made.active):
		return "who has a process"
	case !maps.Equal(kept.queued, made.queued):
		return "who waits for a process"
	case !maps.Equal(kept.pending, made.pending):
		return "questions after which something is to be done"
	case !maps.Equal(kept.clients, made.clients):
		return "whose end a client waits for"
	case kept.scopes != made.scopes:
		return "the budgets"
	case !sameLists(kept.children, made.children):
		return "children"
	case !sameLists(kept.questions, made.questions):
		return "questions"
	case !sameLists(kept.deliveries, made.deliveries):
		return "deliveries"
	}
	return ""
}

func sameLists(a, b map[string][]string) bool {
	if len(a) != len(b) {
		return false
	}
	for id, list := range a {
		if !slices.Equal(slices.Sorted(slices.Values(list)), slices.Sorted(slices.Values(b[id]))) {
			return false
		}
	}
	return true
}

func TestTwoStepsFromOneStateDoNotShareAnIndex(t *testing.T) {
	before := NewTransition(State{
		Run: &Run{ID: RunID, Root: Root}, Agents: map[string]*Agent{Root: {ID: Root}},
		Questions: map[string]*Question{}, Deliveries: map[string]*Delivery{},
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
	if got := before.indexed().children[Root]; !slices.Equal(got, []string{"a-2"}) {
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
