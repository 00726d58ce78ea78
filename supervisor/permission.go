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
	"claude-supervise/supervisor/text"
)

// What a person may answer to a permission prompt. What follows the word is its argument: of allow-run another rule
// than the one that is offered, of the denials the reason.
const (
	Allow    = "allow"
	AllowRun = "allow-run"
	Deny     = "deny"
	DenyStop = "deny-stop"
)

// PermissionAsked makes the question of a permission prompt, and the rule that would permit the same for the whole run;
// "" if none can. What is of the call stands in it as package text writes it: so it is seen wherever the question is
// shown. t is what the person sees of the call.
func PermissionAsked(m procs.Ask, t CallView) (signals.Question, string) {
	name := text.Line(m.Name, MaxToolName)
	asked := "Allow " + name + "?"
	if what := text.Line(t.What, text.MaxNamed); what != "" {
		asked = fmt.Sprintf("Allow %s: %s?", name, what)
	} else if what := text.Line(m.Description, text.MaxNamed); what != "" {
		asked = fmt.Sprintf("Allow %s: %s?", name, what)
	}
	context := t.Preview
	if m.Reason != "" {
		context += "\nAsked because: " + text.Line(m.Reason, text.MaxLine)
	}
	if m.From.ID != "" {
		context += "\nAsked by the subagent " + text.Line(m.From.ID, text.MaxLine)
	}
	var options []signals.Option
	rule := ""
	if t.More > 0 {
		context += "\n" + onlyRefused
	} else {
		options = append(options, signals.Option{Label: Allow, Description: "this once"})
	}
	if t.Rule != (rules.Rule{}) {
		rule = t.Rule.String()
	}
	if rule != "" && t.More == 0 {
		options = append(options, signals.Option{Label: AllowRun, Description: "always in this run: " + rule})
	}
	return signals.Question{
		ID: m.Name, Header: name, Text: asked, Context: context,
		Options: append(options,
			signals.Option{Label: Deny, Description: "refuse it; add why, e.g. deny: use the test database"},
			signals.Option{Label: DenyStop, Description: "refuse it, and stop the agent"}),
	}, rule
}

// MaxToolName bounds the name of a tool in it.
const MaxToolName = 100

// onlyRefused says why a call can only be refused.
var onlyRefused = fmt.Sprintf("It can only be refused: more than %d KiB cannot be shown, and what is not shown\n"+
	"cannot be allowed. Deny it, and ask for smaller steps.", text.MaxPreview>>10)

// allowable reports whether a permission may be given: not if a part of what would be permitted was not shown.
func allowable(q *Question) bool {
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

// allowed reports whether a permission was given, for once or for the run.
func allowed(q *Question) bool {
	word, _ := Decision(q.Answer)
	return !q.Skipped && !q.Declined && q.Revoked == "" && (word == Allow || word == AllowRun)
}

// checkPermission is CheckDecision for a permission.
func checkPermission(q *Question, answer, cwd string) error {
	word, argument := Decision(answer)
	switch {
	case word == Deny && strings.HasPrefix(answer, Allow):
		return fmt.Errorf("allow takes nothing after it: type %q, or deny and what to do instead", Allow)
	case (word == Allow || word == AllowRun) && !allowable(q):
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

// Rules gives what the persons who watch this run have permitted for the whole of it, oldest first.
func (s State) Rules() []RunRule {
	var all []RunRule
	for _, q := range s.FindQuestions(GrantsRule) {
		all = append(all, RuleOf(q))
	}
	return all
}

// GrantsRule reports whether a question's answer is a rule that is in force.
func GrantsRule(q *Question) bool {
	word, _ := Decision(q.Answer)
	return q.Kind == checkpoints.AskPermission && q.AnsweredAt != nil && allowed(q) && word == AllowRun &&
		q.Rule != "" &&
		(q.State == checkpoints.QuestionAnswered || q.State == checkpoints.QuestionDelivered)
}

// GivenRule gives the rule that an answer to q, as Choose in the terminal gives it, puts in force for the whole run; ""
// if it is none.
func GivenRule(q *Question, answer string) string {
	word, argument := Decision(answer)
	switch {
	case q.Kind != checkpoints.AskPermission, word != AllowRun:
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

// RuleOf gives the rule that an answer to a permission has given.
func RuleOf(q *Question) RunRule {
	return RunRule{Rule: GivenRule(q, q.Answer), Question: q.ID, By: q.AnsweredBy, At: *q.AnsweredAt}
}

// permitted gives the rule of this run that permits a call of an agent, given as its exact rule; "" if none does: one
// that --allow gave for exactly this, or an answer. A path in either is one from the folder of the agent that asked.
func (s State) permitted(call, agent string) string {
	if call == "" {
		return ""
	}
	exact, err := rules.Parse(call)
	if err != nil {
		return ""
	}
	exact = exact.From(s.Folder(agent))
	for _, given := range s.Config.Allow {
		// Claude has these rules itself, and asks all the same about some commands that a rule spells out, such as one that
		// writes to a file. The person has permitted that very call.
		if r, err := rules.Parse(given); err == nil && r.From(s.Folder(agent)) == exact {
			return given
		}
	}
	var granted []rules.Rule
	for _, q := range s.FindQuestions(GrantsRule) {
		given, folder := RuleOf(q).Rule, s.Folder(q.Agent)
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
func (d *transition) decided(n InboxEntry) {
	q := d.Questions[n.Question]
	if q.Kind != checkpoints.AskPermission {
		return
	}
	d.reopen()
	if q.Skipped || q.Declined {
		return
	}
	if CheckDecision(q, q.Answer, d.Folder(q.Agent)) != nil {
		d.question(q.ID).Answer = Deny + " " + q.Answer
		return
	}
	switch word, why := Decision(q.Answer); word {
	case AllowRun:
		for _, other := range d.FindQuestions(func(o *Question) bool {
			return o.Kind == checkpoints.AskPermission && o.State == checkpoints.QuestionOpen
		}) {
			if rule := d.permitted(other.Rule, other.Agent); rule != "" {
				d.answer(InboxEntry{Question: other.ID, Value: Allow, By: "the rule " + rule, At: n.At})
				d.question(other.ID).ByRule = true
			}
		}
	case DenyStop:
		by := n.By
		if why != "" {
			by += ": " + text.FirstLine(why)
		}
		d.stop(InboxEntry{Agent: q.Agent, By: by})
	}
}

// EntryRevoke is a note that takes a rule back: its value is the rule.
const EntryRevoke = "revoke"

// revoke takes rules back: from now on what they permit is asked about again. One that --allow gave is in claude's own
// hands, in a process that runs already.
func (d *transition) revoke(n InboxEntry) {
	for _, r := range d.Rules() {
		if r.Rule == n.Value {
			d.question(r.Question).Revoked = n.By
		}
	}
	if slices.Contains(d.Config.Allow, n.Value) {
		d.Config.Allow = slices.DeleteFunc(slices.Clone(d.Config.Allow), func(rule string) bool { return rule == n.Value })
		d.run().Config = text.JSON(d.Config)
	}
	d.reopen()
}

// reopen asks again what a rule has answered that is in force no more, unless that is on its way.
func (d *transition) reopen() {
	for _, q := range d.FindQuestions(func(q *Question) bool {
		return q.ByRule && q.State == checkpoints.QuestionAnswered && !q.Delivering && d.permitted(q.Rule, q.Agent) == ""
	}) {
		q := d.question(q.ID)
		q.State, q.Response, q.ByRule = checkpoints.QuestionOpen, checkpoints.Response{}, false
		dequeue(d.agent(q.Agent), q.Group)
	}
}

// A CallView is what a person is shown of a call before it is permitted.
type CallView struct {
	What    string     // the command, path or address as it is, for the question's text
	Preview string     // all of the call, as package text writes it
	Rule    rules.Rule // that permits exactly this in the whole run; the zero Rule if none can
	More    int        // how many bytes of the preview are left out; such a call can only be refused
}
