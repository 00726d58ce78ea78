package supervisor

import (
	"slices"
	"testing"
	"time"

	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

func TestTheHoldFollowsTheQuestion(t *testing.T) {
	ask := func(q signals.Question, fields ...signals.Field) *Question {
		asked := NewQuestion("clarification", q)
		asked.Signal = text.JSON(signals.Signal{Kind: signals.Clarification, Fields: fields})
		return asked
	}
	yesNo := ask(signals.Question{Text: "Continue?", Options: []signals.Option{{Label: "Yes"}, {Label: "No"}}})
	for name, c := range map[string]struct {
		open []*Question
		hold time.Duration
		want time.Duration
	}{
		"free text": {[]*Question{ask(signals.Question{Text: "Why?"})}, DefaultHold, 7 * time.Minute},
		"options": {[]*Question{ask(
			signals.Question{Text: "Which?", Options: []signals.Option{{Label: "a"}, {Label: "b"}}})}, DefaultHold, DefaultHold},
		"yes or no": {[]*Question{yesNo}, DefaultHold, 2 * time.Minute},
		"yes or no by its rule": {[]*Question{ask(signals.Question{Text: "Continue?", Validate: "yes_no"})},
			time.Hour, 24 * time.Minute},
		"several: the longest, and more": {[]*Question{yesNo, ask(signals.Question{Text: "Why?"})},
			DefaultHold, 8 * time.Minute},
		"two of yes or no": {[]*Question{yesNo, yesNo}, DefaultHold, 3 * time.Minute},
		"many: up to the bound": {slices.Repeat([]*Question{ask(signals.Question{Text: "Why?"})}, 40), time.Hour,
			96 * time.Minute},
		"a permission": {[]*Question{NewQuestion("permission", signals.Question{Text: "May it?"})}, DefaultHold,
			DefaultHold},
		"its own wait": {[]*Question{ask(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "30s"})}, DefaultHold, 30 * time.Second},
		"its own wait, longer than may be": {[]*Question{ask(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "10h"})}, DefaultHold, 8 * time.Minute},
		"its own wait, which is none": {[]*Question{ask(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "soon"})}, DefaultHold, 7 * time.Minute},
		"its own wait, before it was asked": {[]*Question{ask(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "-5s"})}, DefaultHold, 7 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := holdFor(c.open, c.hold); got != c.want {
				t.Errorf("it is held for %v, want %v", got, c.want)
			}
		})
	}
}
