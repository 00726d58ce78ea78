package supervisor

import (
	"slices"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

// A question holds back whoever asks, the parents that are not done before it, and what comes after any of them. Whoever
// works on, and what waits for nobody of these, it does not.
func TestAQuestionHoldsBackWhoeverGoesOnOnlyAfterIt(t *testing.T) {
	w := states(t, "", stated("asks", ""), stated("works", ""), stated("next", "", "asks"), stated("last", "", "next"),
		stated("other", "", "works"))
	for _, name := range []string{"asks", "works"} {
		id := w.names[name]
		w.Do(Started{Agent: id, Launch: 1, PID: 101, StartTicks: 1})
		for _, d := range w.State.FindDeliveries(id, (*checkpoints.Delivery).Undelivered) {
			w.Do(Sent{UUID: d.UUID, Launch: 1})
			w.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
		}
		w.Do(TurnBegun{Agent: id, Launch: 1})
	}
	asker := w.names["asks"]
	w.Do(SignalRead{Agent: asker, Launch: 1, Named: Named{Naming: Naming{IDs: []string{"q-1"}, Presets: []conf.Preset{{}}},
		Signal: signals.Signal{Kind: signals.Clarification, AgentID: asker,
			Questions: []signals.Question{{Text: "Which?"}}}}})
	w.Do(TurnEnded{Agent: asker, Launch: 1})
	for _, d := range w.State.FindDeliveries(asker, (*checkpoints.Delivery).WaitsForReceipt) {
		w.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
	w.are("asks waiting", "works running", "next blocked")
	var held []string
	for _, a := range w.State.HeldBack(w.State.Questions.Get("q-1")) {
		held = append(held, a.Task)
	}
	if want := []string{"", "Do asks", "Do next", "Do last"}; !slices.Equal(held, want) {
		t.Errorf("it holds back %q, not %q", held, want)
	}
	w.Answers("q-1", "This one")
	if held := w.State.HeldBack(w.State.Questions.Get("q-1")); len(held) > 0 {
		t.Errorf("answered, it holds back %d agents", len(held))
	}
}
