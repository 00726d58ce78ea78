package ask

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

func TestAQuestionOfAnySizeIsKeptWithinItsBoundsAndThePersonIsToldWhatIsNotShown(t *testing.T) {
	long := strings.Repeat("ä", 1<<19) // a megabyte
	asked := signals.Question{ID: long, Text: long, Header: long, Context: long, Validate: "regex:" + long}
	for i := range 1000 {
		asked.Options = append(asked.Options,
			signals.Option{Label: fmt.Sprint(i) + long[:2000], Description: long[:5000], Preview: long[:40000]})
	}
	q := Question(questions.AskClarification, asked)
	for name, is := range map[string]struct{ bytes, most int }{
		"id":      {len(q.Own), maxHeader},
		"text":    {len(q.Text), MaxText},
		"header":  {len(q.Header), maxHeader},
		"context": {len(q.Context), MaxContext + 1000},
		"rule":    {len(q.Validate), MaxText},
		"options": {len(q.Options), questions.MaxKept},
		"label":   {len(q.Options[99].Label), maxLabel},
		"preview": {len(q.Options[99].Preview), maxOptionView},
		"cut":     {len(q.Truncated), 500},
	} {
		if is.bytes == 0 || is.bytes > is.most {
			t.Errorf("%s: %d, at most %d are kept", name, is.bytes, is.most)
		}
	}
	if !utf8.ValidString(q.Text) || !strings.HasSuffix(q.Text, "ä…") {
		t.Errorf("the text ends in %q", q.Text[len(q.Text)-8:])
	}
	for _, part := range []string{"its text has 1048576 bytes, of which 16384 are kept",
		"900 of 1000 options are left out", "more cuts like these"} {
		if !strings.Contains(q.Context, part) {
			t.Errorf("the person is not told %q", part)
		}
	}
	if text := prompts.Served([]*checkpoints.Question{q}); !strings.Contains(text,
		"was not shown whole: 900 of 1000 options are left out; its id has") {
		t.Errorf("the agent reads: %s", text)
	}
}

func TestAQuestionWithinItsBoundsIsKeptAsItWasGiven(t *testing.T) {
	hostile := "\x1b[31mRed\x1b[0m\u202e"
	q := Question(questions.AskClarification, signals.Question{
		ID: "Q1", Text: "Which\x00?", Context: "why", Urgent: true,
		Options: []signals.Option{{Label: hostile}, {Label: "Red"}},
	})
	if q.Text != "Which\x00?" || q.Context != "why" || q.Truncated != "" || q.Options[0].Label != hostile || !q.Urgent {
		t.Errorf("%+v", q)
	}
}
