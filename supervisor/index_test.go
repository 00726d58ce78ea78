package supervisor

import (
	"maps"
	"slices"
	"testing"
	"time"
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
