package supervisor

import (
	"errors"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
)

// This file is what may be answered to a question that asks for a decision: a word of ours, and what belongs to it.

// Instead begins, in the denial of a delegation, what the agent is to do in place of it.
const Instead = instead

// Denial writes the denial of a delegation: the reason, and what the agent is to do instead, "" for nothing in
// particular.
func Denial(why, alternative string) string {
	denial := strings.TrimSpace(Deny + " " + strings.TrimSpace(why))
	if alternative = strings.TrimSpace(alternative); alternative != "" {
		denial += " " + instead + " " + alternative
	}
	return denial
}

// CheckDecision tells why an answer to q, as Choose in the terminal gives it, cannot be taken: only what is exactly a
// permission is one, and a rule has to be one that permits what is asked; a delegation is approved, or denied for a
// reason. cwd is the folder that the agent works in. Questions of other kinds take any answer.
func CheckDecision(q *Question, answer, cwd string) error {
	switch q.Kind {
	case checkpoints.AskPermission:
		return checkPermission(q, answer, cwd)
	case checkpoints.AskDelegation:
		return checkDelegation(answer)
	case checkpoints.AskBudget:
		return checkBudget(q, answer)
	}
	return nil
}

func checkDelegation(answer string) error {
	decided := &Question{Response: checkpoints.Response{Answer: answer}}
	if _, ok := approved(decided); ok {
		return nil
	}
	word, _, _ := strings.Cut(strings.TrimSpace(answer), " ")
	why, _ := denied(decided)
	switch {
	case word != Deny:
		return fmt.Errorf("type %q, %q and another task, or %q and why", Approve, Approve, Deny)
	case why == "":
		return errors.New("say why, so that the agent knows what to do: deny WHY, or deny WHY " + instead + " WHAT")
	}
	return nil
}
