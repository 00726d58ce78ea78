package supervisor

import (
	"slices"
	"testing"
	"time"

	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

func TestTheHoldFollowsTheQuestion(t *testing.T) {
	put := func(q signals.Question, fields ...signals.Field) *Question {
		asked := ask.Question("clarification", q)
		asked.Signal = text.JSON(signals.Signal{Kind: signals.Clarification, Fields: fields})
		return asked
	}
	yesNo := put(signals.Question{Text: "Continue?", Options: []signals.Option{{Label: "Yes"}, {Label: "No"}}})
	for name, c := range map[string]struct {
		open []*Question
		hold time.Duration
		want time.Duration
	}{
		"free text": {[]*Question{put(signals.Question{Text: "Why?"})}, conf.DefaultHold, 7 * time.Minute},
		"options": {[]*Question{put(
			signals.Question{Text: "Which?", Options: []signals.Option{{Label: "a"}, {Label: "b"}}})}, conf.DefaultHold,
			conf.DefaultHold},
		"yes or no": {[]*Question{yesNo}, conf.DefaultHold, 2 * time.Minute},
		"yes or no by its rule": {[]*Question{put(signals.Question{Text: "Continue?", Validate: "yes_no"})},
			time.Hour, 24 * time.Minute},
		"several: the longest, and more": {[]*Question{yesNo, put(signals.Question{Text: "Why?"})},
			conf.DefaultHold, 8 * time.Minute},
		"two of yes or no": {[]*Question{yesNo, yesNo}, conf.DefaultHold, 3 * time.Minute},
		"many: up to the bound": {slices.Repeat([]*Question{put(signals.Question{Text: "Why?"})}, 40), time.Hour,
			96 * time.Minute},
		"a permission": {[]*Question{ask.Question("permission", signals.Question{Text: "May it?"})}, conf.DefaultHold,
			conf.DefaultHold},
		"its own wait": {[]*Question{put(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "30s"})}, conf.DefaultHold, 30 * time.Second},
		"its own wait, longer than may be": {[]*Question{put(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "10h"})}, conf.DefaultHold, 8 * time.Minute},
		"its own wait, which is none": {[]*Question{put(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "soon"})}, conf.DefaultHold, 7 * time.Minute},
		"its own wait, before it was asked": {[]*Question{put(signals.Question{Text: "Why?"},
			signals.Field{Name: "quick_wait", Value: "-5s"})}, conf.DefaultHold, 7 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask.HoldFor(c.open, c.hold); got != c.want {
				t.Errorf("it is held for %v, want %v", got, c.want)
			}
		})
	}
}
