package supervisor

import (
	"slices"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// indexHolds says where what a state finds is not what is found in its records indexed anew; "" if nowhere.
func indexHolds(s State) string {
	anew := fresh(s)
	any := func(*Question) bool { return true }
	for what, of := range map[string]func(State) []*Agent{
		"the order of the agents": State.AllAgents, "who has a process": State.Active, "who waits for a process": State.Queued,
	} {
		if !slices.Equal(of(s), of(anew)) {
			return what
		}
	}
	for id := range s.Agents.All() {
		sent := func(*Delivery) bool { return true }
		switch {
		case !slices.Equal(s.Children(id), anew.Children(id)):
			return "children"
		case !slices.Equal(s.FindQuestionsOf(id, any), anew.FindQuestionsOf(id, any)):
			return "questions"
		case !slices.Equal(s.FindDeliveries(id, sent), anew.FindDeliveries(id, sent)):
			return "deliveries"
		case !slices.Equal(s.WithClients(id), anew.WithClients(id)):
			return "whose end a client waits for"
		}
	}
	switch {
	case !slices.Equal(s.FindPending(any), anew.FindPending(any)):
		return "questions after which something is to be done"
	case s.Bounded() != anew.Bounded():
		return "the budgets"
	}
	return ""
}

func TestTwoStepsFromOneStateDoNotShareAnIndex(t *testing.T) {
	before := NewTransition(State{Records: records.Records{Run: &Run{ID: RunID, Root: Root},
		Agents: table.Of(map[string]*Agent{Root: {ID: Root}})}}, time.Time{}).State
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
	if got := before.Children(Root); len(got) != 1 || got[0].ID != "a-2" {
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
