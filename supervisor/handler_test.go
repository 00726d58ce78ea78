package supervisor

import (
	"slices"
	"testing"

	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
)

func TestASignalAsksQuestionsOfOneKind(t *testing.T) {
	asks := map[signals.Kind]bool{}
	for name, h := range handlers {
		if !slices.Contains(questions.All(), name) {
			t.Errorf("%q is no kind", name)
		}
		if h.asked != nil && asks[h.signal] {
			t.Errorf("%s is asked by a signal that asks another kind, too", name)
		}
		asks[h.signal] = h.asked != nil || asks[h.signal]
	}
}

// What comes in a pack file may show one thing and have another done.
func TestWhatAPersonPermitsIsShownAnewFromWhatItIsAbout(t *testing.T) {
	for _, name := range questions.All() {
		// whether a command may run is asked anew by the stop that wants it
		if k := questions.KindOf(name); (k.Evidence || k.InCall) && !k.Runs && handlers[name].anew == nil {
			t.Errorf("%s is shown as a pack file has it", name)
		}
	}
}
