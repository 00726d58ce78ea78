package questions

import (
	"cmp"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
)

// This file is the question that does not stop the work: its agent goes on under an assumption, which the answer
// confirms or corrects.

// A Verdict is what has become of an assumption.
type Verdict string

// The verdicts. An answer that is skipped or declined leaves the assumption as it is.
const (
	Confirmed Verdict = "confirmed"
	Corrected Verdict = "corrected"
	Left      Verdict = "left"
	Pending   Verdict = "open"
	Withdrawn Verdict = "withdrawn"
)

// AsAssumed is typed to accept what was assumed.
const AsAssumed = "+"

// VerdictOf returns what has become of the assumption of a question; "" if it has none.
func VerdictOf(q *Question) Verdict {
	switch {
	case q.Assumed == nil:
		return ""
	case q.AnsweredAt == nil && q.State == checkpoints.QuestionWithdrawn:
		return Withdrawn
	case q.AnsweredAt == nil:
		return Pending
	case q.Skipped, q.Declined:
		return Left
	case Confirms(q, q.Answer):
		return Confirmed
	}
	return Corrected
}

// Confirms reports whether an answer to a question is what its agent has assumed: in the same words, or by the same
// options. What else may mean the same nobody but the agent can tell, to whom it is a correction.
func Confirms(q *Question, answer string) bool {
	if answer == q.Assumed.Text || Fold(answer) == Fold(q.Assumed.Text) {
		return true
	}
	t := Of(q, "")
	assumed, given := t.chosen(q.Assumed.Text), t.chosen(answer)
	return len(assumed) > 0 && slices.Equal(assumed, given)
}

// chosen returns the options that a text names, in their order; none if it is no choice of them.
func (q Terms) chosen(said string) []int {
	picked, err := q.Named(said)
	if err != nil {
		return nil
	}
	return slices.Sorted(slices.Values(picked))
}

// accepts returns the answer that is kept where what is typed accepts what was assumed. ok is false where nothing was
// assumed, or an option is called as what is typed.
func (q Terms) accepts(said string) (answer string, ok bool) {
	if q.Assumption == "" || said != AsAssumed && Fold(said) != "as assumed" || len(q.exact(said)) > 0 {
		return "", false
	}
	return q.AcceptedAssumption(), true
}

// AcceptedAssumption is the answer that is kept where the person accepts what was assumed: the options that it names,
// or its words. It is an answer whatever rule there is for others.
func (q Terms) AcceptedAssumption() string {
	picked := q.chosen(q.Assumption)
	labels := make([]string, len(picked))
	for i, at := range picked {
		labels[i] = q.Options[at].Label
	}
	return cmp.Or(strings.Join(labels, ", "), q.Assumption)
}
