package service

import (
	"encoding/json"
	"testing"

	"claude-supervise/supervisor/view"
)

func TestADenialMayHaveTwoArguments(t *testing.T) {
	delegation := new(view.QuestionView)
	if err := json.Unmarshal([]byte(`{"kind":"delegation","options":[{"label":"approve"},{"label":"deny"}]}`),
		delegation); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"why and what instead":     {[]string{"deny", "too early", "list it"}, "deny too early instead: list it"},
		"by the option's number":   {[]string{"2", "early", "list it"}, "deny early instead: list it"},
		"a reason without quotes":  {[]string{"deny", "too", "early"}, "deny too early"},
		"a longer one":             {[]string{"deny", "it", "is", "early"}, "deny it is early"},
		"with the word that parts": {[]string{"deny", "too early instead:", "list it"}, "deny too early instead: list it"},
		"an approval with a task":  {[]string{"approve", "the parser", "and its tests"}, "approve the parser and its tests"},
		"one argument":             {[]string{"deny", "too early"}, "deny too early"},
		"nothing":                  {nil, ""},
	} {
		if got := spelled(*delegation, c.words); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	other := view.QuestionView{Options: delegation.Options}
	if got := spelled(other, []string{"deny", "too early", "list it"}); got != "deny too early list it" {
		t.Errorf("another question: %q", got)
	}
}
