package questions

import (
	"errors"
	"slices"
	"strings"
)

// This file is the law of plans: approve is an approval, and all else says what is to be changed.

// tooShort are words that a person may have meant as an approval, or as none: neither is guessed.
var tooShort = []string{"yes", "y", "ok", "okay", "no", "n", "approved", "allow", "lgtm"}

// Approvable reports whether a plan may be approved: not if a part of it was not shown.
func Approvable(q *Question) bool { return len(q.Options) > 0 && q.Truncated == "" }

func approvesPlan(q *Question) bool { return q.Answer == Approve }

// Changes returns what a person wants changed in a plan; "" if they did not say.
func Changes(q *Question) string {
	said := strings.TrimSpace(q.Answer)
	if rest, is := strings.CutPrefix(said, Deny); is && (rest == "" || strings.ContainsAny(rest[:1], " :,;")) {
		return strings.TrimLeft(rest, " :,;")
	}
	return said
}

func checkPlan(q *Question, answer, _ string) error {
	said := Fold(answer)
	switch {
	case answer == Approve && !Approvable(q):
		return errors.New("not all of this plan can be shown, so it cannot be approved: say what to change first")
	case answer == Approve:
		return nil
	case slices.Contains(tooShort, strings.Trim(said, ".!")):
		return errors.New(`type "approve" to approve the plan, or say what is to be changed`)
	case strings.HasPrefix(said, Approve+" "):
		return errors.New(`approve takes nothing after it: type "approve", or say only what is to be changed`)
	}
	return nil
}

func planInAdvance(*Question, bool) string {
	return "a plan is approved, or changed, by who has read it: no answer given in advance is for it"
}
