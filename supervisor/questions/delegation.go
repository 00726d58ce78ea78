package questions

import (
	"errors"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
)

// What is answered to a delegation. Instead begins, in a denial, what the agent is to do in place of it.
const (
	Approve = "approve"
	Instead = "instead:"
)

// Denial writes the denial of a delegation: the reason, and what the agent is to do instead, "" for nothing in
// particular.
func Denial(why, alternative string) string {
	denial := strings.TrimSpace(Deny + " " + strings.TrimSpace(why))
	if alternative = strings.TrimSpace(alternative); alternative != "" {
		denial += " " + Instead + " " + alternative
	}
	return denial
}

// Approved reports whether a delegation was approved, and gives the task if the person has changed it.
func Approved(q *Question) (task string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(q.Answer), " ")
	if q.Skipped || q.Declined || q.Revoked != "" || word != Approve {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// Denied takes the answer to a delegation that is not approved apart.
func Denied(q *Question) (why, alternative string) {
	why, alternative, _ = strings.Cut(strings.TrimSpace(q.Answer), Instead)
	why = strings.TrimSpace(why)
	if rest, is := strings.CutPrefix(why, Deny); is {
		why = strings.TrimSpace(rest)
	}
	return why, strings.TrimSpace(alternative)
}

// approves reports whether an answer approves, whoever has taken it back since.
func approves(q *Question) bool {
	_, ok := Approved(answered(q.Answer))
	return ok
}

func answered(answer string) *Question {
	return &Question{Response: checkpoints.Response{Answer: answer}}
}

func approveInAdvance(q *Question, _ bool) string {
	if approves(q) {
		return "it would start an agent, which --delegate auto does in advance"
	}
	return ""
}

func checkDelegation(_ *Question, answer, _ string) error {
	decided := answered(answer)
	if approves(decided) {
		return nil
	}
	word, _, _ := strings.Cut(strings.TrimSpace(answer), " ")
	why, _ := Denied(decided)
	switch {
	case word != Deny:
		return fmt.Errorf("type %q, %q and another task, or %q and why", Approve, Approve, Deny)
	case why == "":
		return errors.New("say why, so that the agent knows what to do: deny WHY, or deny WHY " + Instead + " WHAT")
	}
	return nil
}

// WhyDenied says in words why a nested run is not started.
func WhyDenied(answer, by string) string {
	why, alternative := Denied(&checkpoints.Question{Response: checkpoints.Response{Answer: answer}})
	if why == "" {
		why = "no reason was given."
	}
	return strings.TrimRight(strings.TrimSpace(fmt.Sprintf("denied by %s: %s %s", by, why, alternative)), ".")
}
