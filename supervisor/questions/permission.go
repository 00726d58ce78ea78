package questions

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/rules"
)

// What a person may answer to a permission prompt. What follows the word is its argument: of allow-run another rule
// than the one that is offered, of the denials the reason.
const (
	Allow    = "allow"
	AllowRun = "allow-run"
	Deny     = "deny"
	DenyStop = "deny-stop"
)

// Allowable reports whether a permission may be given: not if a part of what would be permitted was not shown.
func Allowable(q *Question) bool {
	return slices.ContainsFunc(q.Options, func(o checkpoints.Option) bool { return o.Label == Allow }) && q.Truncated == ""
}

// Decision takes the answer to a permission prompt apart. What is not exactly a permission is a denial, with the whole
// of it as the reason.
func Decision(answer string) (word, argument string) {
	word, argument, _ = strings.Cut(strings.TrimSpace(answer), " ")
	argument = strings.TrimSpace(argument)
	switch {
	case word == Allow && argument == "", word == AllowRun, word == Deny, word == DenyStop:
		return word, argument
	}
	return Deny, strings.TrimSpace(answer)
}

// Allowed reports whether the answer to a question lets something happen: a permission was given, for once or for the
// run, or a plan approved.
func Allowed(q *Question) bool { return q.Revoked == "" && Grants(q) }

func permits(q *Question) bool {
	word, _ := Decision(q.Answer)
	return word == Allow || word == AllowRun
}

func deny(why string) string { return strings.TrimSpace(Deny + " " + why) }

func permitInAdvance(q *Question, _ bool) string {
	switch {
	case !permits(q):
		return ""
	case q.Rule == "":
		return "it would permit a call, which no answer given in advance can"
	}
	return "it would permit a call, which --allow does in advance"
}

func checkPermission(q *Question, answer, cwd string) error {
	word, argument := Decision(answer)
	switch {
	case word == Deny && strings.HasPrefix(answer, Allow):
		return fmt.Errorf("allow takes nothing after it: type %q, or deny and what to do instead", Allow)
	case (word == Allow || word == AllowRun) && !Allowable(q):
		return fmt.Errorf(
			"not all of this call can be shown, so it can only be refused: type %q and what to do instead, such as smaller "+
				"steps", Deny)
	case word != AllowRun:
		return nil
	case q.Rule == "":
		return fmt.Errorf("no rule can describe this call, so it can only be allowed once: type %q", Allow)
	case argument == "":
		return nil
	}
	r, err := rules.Parse(argument)
	if err != nil {
		return fmt.Errorf("%s %w", AllowRun, err)
	}
	if call, err := rules.Parse(q.Rule); err != nil || !rules.Covered([]rules.Rule{r}, call, cwd) {
		return fmt.Errorf("the rule %s does not permit what is asked, which is %s", r, q.Rule)
	}
	return nil
}

// GivenRule returns the rule that an answer to q, as Choose gives it, puts in force for the whole run; ""
// if it is none.
func GivenRule(q *Question, answer string) string {
	word, argument := Decision(answer)
	switch {
	case !kinds[q.Kind].Ruled, word != AllowRun:
		return ""
	case argument != "":
		return argument
	}
	return q.Rule
}
