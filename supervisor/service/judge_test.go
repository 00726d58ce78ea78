package service

import (
	"encoding/json"
	"fmt"
	"testing"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// Between a look at what is open and the answer without an id another question may have taken its place.
func TestWhatLetsSomethingHappenIsAnsweredByItsIDAlone(t *testing.T) {
	for _, c := range []struct {
		kind, typed string
		byID        bool
	}{
		{"permission", "allow", true}, {"delegation", "approve", true}, {"budget", "raise 9", true}, {"command", "run", true},
		{"permission", "deny", true}, {"clarification", "JWT", false}, {"blocker", "retry", false}, {"file", "JWT", false},
		{"overrun", "stop", false}, {"elicitation", "JWT", false},
	} {
		var q view.QuestionView
		if err := json.Unmarshal(fmt.Appendf(nil, `{"id":"q-aaaaaa","run":"r-aaaaaaaa","kind":%q,"options":[{"label":"allow"},
			{"label":"deny"},{"label":"approve"},{"label":"raise"},{"label":"run: make"},{"label":"JWT"},{"label":"retry"},
			{"label":"stop"}]}`, c.kind), &q); err != nil {
			t.Fatal(err)
		}
		for named, want := range map[Named]bool{NamedByNone: !c.byID, NamedByRun: !c.byID, NamedByID: true} {
			if _, err := Judge("it", q, Answer{Typed: &c.typed, Named: named, Screen: true}, questions.Place{}); (err == nil) != want {
				t.Errorf("%s to a %s, named %d: %v", c.typed, c.kind, named, err)
			}
		}
	}
}
