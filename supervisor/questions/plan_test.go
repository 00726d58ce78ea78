package questions

import (
	"errors"
	"testing"

	"claude-supervise/checkpoints"
)

func TestAPlanIsApprovedByThatWordAloneAndChangedByAnyOther(t *testing.T) {
	plan := func() *Question { return &Question{Kind: AskPlan, Wording: wording(false, Approve)} }
	cut, bare := plan(), plan()
	cut.Truncated, bare.Options = "its context has 70000 bytes", nil
	for name, c := range map[string]struct {
		q             *Question
		typed, answer string
		reason        Reason
	}{
		"approved":                {plan(), "approve", Approve, ""},
		"by its number":           {plan(), "1", Approve, ""},
		"in capitals":             {plan(), "APPROVE", Approve, ""},
		"by its start":            {plan(), "app", Approve, ""},
		"words":                   {plan(), "Use SQLite; approve nothing else", "Use SQLite; approve nothing else", ""},
		"a refusal of permission": {plan(), "deny: too large", "deny: too large", ""},
		"an approval with words":  {plan(), "approve, but use SQLite", "approve, but use SQLite", ""},
		"and words behind it":     {plan(), "approve but use SQLite", "", Undecided},
		"yes":                     {plan(), "Yes!", "", Undecided},
		"ok":                      {plan(), "ok.", "", Undecided},
		"no":                      {plan(), "no", "", Undecided},
		"nothing":                 {plan(), "  ", "", Empty},
		"one that is cut":         {cut, "approve", "", Undecided},
		"words to one that is":    {cut, "shorter", "shorter", ""},
		"one that is not shown":   {bare, "approve", "", Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := Judge(c.q, c.typed, Place{})
			var refused *Refusal
			if why := errors.As(err, &refused); answer != c.answer || why != (c.reason != "") || why && refused.Reason != c.reason {
				t.Errorf("%q gives %q, %v", c.typed, answer, err)
			}
		})
	}
	if !Of(plan(), "").Guarded() {
		t.Error("a key that is hit too early approves it")
	}
}

func TestWhatIsToBeChangedInAPlanIsWhatThePersonSaid(t *testing.T) {
	for answer, want := range map[string]string{
		"Use SQLite": "Use SQLite", "deny": "", "deny: too large": "too large", "deny too large": "too large",
		"denying it is wrong": "denying it is wrong",
	} {
		if got := Changes(&Question{Response: checkpoints.Response{Answer: answer}}); got != want {
			t.Errorf("%q asks for %q", answer, got)
		}
	}
	if Changes(&Question{Response: checkpoints.Response{Answer: Refusing(AskPlan, "no")}}) != "no" {
		t.Error("a reason of ours is lost")
	}
}
