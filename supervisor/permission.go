package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/rules"
)

// What a person may answer to a permission prompt. What follows the word is its argument: of allow-run another rule than the
// one that is offered, of the denials the reason.
const (
	allow    = "allow"
	allowRun = "allow-run"
	deny     = "deny"
	denyStop = "deny-stop"
)

// permissionAsked makes the question of a permission prompt, and the rule that would permit the same for the whole run; "" if
// none can. It looks at the file that the call is about, and may be called by the engine only.
func permissionAsked(m procs.Ask, cwd string) (signals.Question, string) {
	t := lookAt(m.Name, m.Input, cwd)
	text := "Allow " + m.Name + "?"
	if what := firstLine(t.what); what != "" {
		text = fmt.Sprintf("Allow %s: %s?", m.Name, cutAt(what, maxNamed))
	} else if m.Description != "" {
		text = fmt.Sprintf("Allow %s: %s?", m.Name, cutAt(firstLine(m.Description), maxNamed))
	}
	context := t.preview
	if m.Reason != "" {
		context += "\nAsked because: " + m.Reason
	}
	if m.From.ID != "" {
		context += "\nAsked by the subagent " + m.From.ID
	}
	options := []signals.Option{{Label: allow, Description: "this once"}}
	rule := ""
	if t.rule != (rules.Rule{}) {
		rule = t.rule.String()
		options = append(options, signals.Option{Label: allowRun, Description: "in this run, whenever asked: " + rule})
	}
	return signals.Question{
		ID: m.Name, Header: m.Name, Text: text, Context: context,
		Options: append(options,
			signals.Option{Label: deny, Description: "refuse it; add why, e.g. deny: use the test database"},
			signals.Option{Label: denyStop, Description: "refuse it, and stop the agent"}),
	}, rule
}

// maxNamed bounds what a question's text names, in bytes: the context has all of it.
const maxNamed = 160

// decision takes the answer to a permission prompt apart. What is not exactly a permission is a denial, with the whole of it
// as the reason.
func decision(answer string) (word, argument string) {
	word, argument, _ = strings.Cut(strings.TrimSpace(answer), " ")
	argument = strings.TrimSpace(argument)
	switch {
	case word == allow && argument == "", word == allowRun, word == deny, word == denyStop:
		return word, argument
	}
	return deny, strings.TrimSpace(answer)
}

// allowed tells whether a permission was given, for once or for the run.
func allowed(q *Question) bool {
	word, _ := decision(q.Answer)
	return !q.Skipped && !q.Declined && q.Revoked == "" && (word == allow || word == allowRun)
}

// checkPermission is CheckDecision for a permission.
func checkPermission(q *Question, answer, cwd string) error {
	word, argument := decision(answer)
	switch {
	case word == deny && strings.HasPrefix(answer, allow):
		return fmt.Errorf("allow takes nothing after it: type %q, or deny and what to do instead", allow)
	case word != allowRun:
		return nil
	case q.Rule == "":
		return fmt.Errorf("no rule can stand for this call, so it can be allowed this once only: type %q", allow)
	case argument == "":
		return nil
	}
	r, err := rules.Parse(argument)
	if err != nil {
		return fmt.Errorf("%s %w", allowRun, err)
	}
	if call, err := rules.Parse(q.Rule); err != nil || !rules.Covered([]rules.Rule{r}, call, cwd) {
		return fmt.Errorf("the rule %s does not permit what is asked, which is %s", r, q.Rule)
	}
	return nil
}

// rules gives what the persons who watch this run have permitted for the whole of it, oldest first.
func (s State) rules() []RunRule {
	var all []RunRule
	for _, q := range s.questions(grantsRule) {
		all = append(all, ruleOf(q))
	}
	return all
}

// grantsRule tells whether a question's answer is a rule that is in force.
func grantsRule(q *Question) bool {
	word, _ := decision(q.Answer)
	return q.Kind == checkpoints.AskPermission && q.AnsweredAt != nil && allowed(q) && word == allowRun && q.Rule != "" &&
		(q.State == checkpoints.QuestionAnswered || q.State == checkpoints.QuestionDelivered)
}

// GivenRule gives the rule that an answer to q, as Choose in the terminal gives it, puts in force for the whole run; "" if it
// is none.
func GivenRule(q *Question, answer string) string {
	word, argument := decision(answer)
	switch {
	case q.Kind != checkpoints.AskPermission, word != allowRun:
		return ""
	case argument != "":
		return argument
	}
	return q.Rule
}

// A RunRule is a rule that somebody gave while a run was under way.
type RunRule struct {
	Rule     string    `json:"rule"`
	Question string    `json:"question"` // the answer to which it is
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

func ruleOf(q *Question) RunRule {
	return RunRule{Rule: GivenRule(q, q.Answer), Question: q.ID, By: q.AnsweredBy, At: *q.AnsweredAt}
}

// permitted gives the rule of this run that permits a call of an agent, given as its exact rule; "" if none does. A path in either is
// one from the folder of the agent that asked.
func (s State) permitted(call, agent string) string {
	if call == "" {
		return ""
	}
	exact, err := rules.Parse(call)
	if err != nil {
		return ""
	}
	exact = exact.From(s.folder(agent))
	var granted []rules.Rule
	for _, q := range s.questions(grantsRule) {
		given, folder := ruleOf(q).Rule, s.folder(q.Agent)
		r, err := rules.Parse(given)
		if err != nil {
			continue
		}
		if r.From(folder) == exact {
			return given
		}
		if given == q.Rule && r.Tool != "Bash" {
			continue // an exact rule is about that one file, even should a folder take its place
		}
		if rules.Covered([]rules.Rule{r}, exact, folder) {
			return given
		}
		granted = append(granted, r)
	}
	if rules.Covered(granted, exact, "") { // of several only those about commands do more than one
		return "for each of its commands"
	}
	return ""
}

// decided follows a decision on a permission: a rule answers what else waits for the same, and a stop stops. What is no
// decision, however it got here, permits nothing.
func (d *draft) decided(n Note) {
	q := d.Questions[n.Question]
	if q.Kind != checkpoints.AskPermission {
		return
	}
	d.reopen()
	if q.Skipped || q.Declined {
		return
	}
	if CheckDecision(q, q.Answer, d.folder(q.Agent)) != nil {
		d.question(q.ID).Answer = deny + " " + q.Answer
		return
	}
	switch word, why := decision(q.Answer); word {
	case allowRun:
		for _, other := range d.questions(func(o *Question) bool {
			return o.Kind == checkpoints.AskPermission && o.State == checkpoints.QuestionOpen
		}) {
			if rule := d.permitted(other.Rule, other.Agent); rule != "" {
				d.answer(Note{Question: other.ID, Value: allow, By: "the rule " + rule, At: n.At})
				d.question(other.ID).ByRule = true
			}
		}
	case denyStop:
		by := n.By
		if why != "" {
			by += ": " + firstLine(why)
		}
		d.stop(Note{Agent: q.Agent, By: by})
	}
}

// noteRevoke is a note that takes a rule back: its value is the rule.
const noteRevoke = "revoke"

// revoke takes rules back: from now on what they permit is asked about again. One that --allow gave is in claude's own hands,
// in a process that runs already.
func (d *draft) revoke(n Note) {
	for _, r := range d.rules() {
		if r.Rule == n.Value {
			d.question(r.Question).Revoked = n.By
		}
	}
	if slices.Contains(d.Config.Allow, n.Value) {
		d.Config.Allow = slices.DeleteFunc(slices.Clone(d.Config.Allow), func(rule string) bool { return rule == n.Value })
		d.run().Config = encode(d.Config)
	}
	d.reopen()
}

// reopen asks again what a rule has answered that is in force no more, unless that is on its way.
func (d *draft) reopen() {
	for _, q := range d.questions(func(q *Question) bool {
		return q.ByRule && q.State == checkpoints.QuestionAnswered && !q.Delivering && d.permitted(q.Rule, q.Agent) == ""
	}) {
		q := d.question(q.ID)
		q.State, q.Answer, q.AnsweredAt, q.AnsweredBy, q.ByRule = checkpoints.QuestionOpen, "", nil, "", false
		unsay(d.agent(q.Agent), q.Group)
	}
}
