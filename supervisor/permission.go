package supervisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// What a person may answer to a permission prompt, and to a delegation.
const (
	Allow    = questions.Allow
	AllowRun = questions.AllowRun
	Deny     = questions.Deny
	DenyStop = questions.DenyStop
	Approve  = questions.Approve
)

// PermissionAsked makes the question of a permission prompt, and the rule that would permit the same for the whole run;
// "" if none can. What is of the call stands in it as package text writes it: so it is seen wherever the question is
// shown. t is what the person sees of the call.
func PermissionAsked(m procs.Ask, t CallView) (signals.Question, string) {
	name := text.Line(m.Name, MaxToolName)
	asked := "Allow " + name
	if t.Where != "" {
		asked += " in " + text.Line(t.Where, text.MaxNamed)
	}
	if what := t.Headline.String(); what != "" {
		asked += ": " + what
	}
	asked += "?"
	context := t.Preview
	if said := text.Line(m.Description, text.MaxLine); said != "" && !strings.Contains(context, said) {
		context += "\n" + calls.ItSays + said
	}
	if m.Reason != "" {
		context += becauseLine + text.Line(m.Reason, text.MaxLine)
	}
	if m.From.ID != "" {
		context += subagentLine + text.Line(m.From.ID, text.MaxLine)
	}
	var options []signals.Option
	rule, holds := "", "always in this run: "
	if t.Cwd != "" {
		holds = "always in this run, in that folder: "
	}
	if t.More > 0 {
		context += "\n" + onlyRefused
	} else {
		options = append(options, signals.Option{Label: Allow, Description: "this once"})
	}
	if t.Rule != (rules.Rule{}) {
		rule = t.Rule.String()
	}
	if rule != "" && t.More == 0 {
		options = append(options, signals.Option{Label: AllowRun, Description: holds + rule})
	}
	return signals.Question{
		ID: m.Name, Header: name, Text: asked, Context: context,
		Options: append(options,
			signals.Option{Label: Deny, Description: "refuse it; add why, e.g. deny: use the test database"},
			signals.Option{Label: DenyStop, Description: "refuse it, and stop the agent"}),
	}, rule
}

// The lines of a permission's context that are not about the call. No line of others begins so
// (permission/preview_evidence).
const (
	becauseLine  = "\nAsked because: "
	subagentLine = "\nAsked by the subagent "
)

// MaxToolName bounds the name of a tool in it.
const MaxToolName = 100

// onlyRefused says why a call can only be refused.
var onlyRefused = fmt.Sprintf("It can only be refused: more than %d KiB cannot be shown, and what is not shown\n"+
	"cannot be allowed. Deny it, and ask for smaller steps.", text.MaxPreview>>10)

// Permits reports whether a question's answer lets a call be made that the person was shown.
func Permits(q *Question) bool { return questions.KindOf(q.Kind).Ruled && questions.Allowed(q) }

// sameEvidence reports whether two permissions show the same of a call, whoever asks for it and why.
func sameEvidence(a, b string) bool {
	of := func(context string) string {
		for _, ours := range []string{becauseLine, subagentLine} {
			context, _, _ = strings.Cut(context, ours)
		}
		return context
	}
	return of(a) == of(b)
}

// Rules returns what the persons who watch this run have permitted for the whole of it, oldest first.
func (s State) Rules() []RunRule {
	var all []RunRule
	for _, q := range s.FindQuestions(GrantsRule) {
		all = append(all, RuleOf(q))
	}
	return all
}

// GrantsRule reports whether a question's answer is a rule that is in force.
func GrantsRule(q *Question) bool {
	word, _ := questions.Decision(q.Answer)
	return Permits(q) && q.AnsweredAt != nil && word == AllowRun && q.Rule != "" &&
		(q.State == checkpoints.QuestionAnswered || q.State == checkpoints.QuestionDelivered)
}

// A RunRule is a rule that somebody gave while a run was under way.
type RunRule struct {
	Rule     string    `json:"rule"`
	Folder   string    `json:"folder,omitempty"` // one about commands holds there; "": in the agent's own
	Question string    `json:"question"`         // the answer to which it is
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// RuleOf returns the rule that an answer to a permission has given.
func RuleOf(q *Question) RunRule {
	return RunRule{Rule: questions.GivenRule(q, q.Answer), Folder: cwdOf(q), Question: q.ID, By: q.AnsweredBy,
		At: *q.AnsweredAt}
}

// cwdOf returns where the call of a permission is made, as a checkpoints.ToolCall has it. A record of an earlier build
// has none, and counts as made in the agent's own folder.
func cwdOf(q *Question) string {
	if q.Tool == nil {
		return ""
	}
	return q.Tool.Cwd
}

// isCommand reports whether a rule is about some commands. What one does depends on the folder in which it runs, so
// such a rule holds where it was given.
func isCommand(r rules.Rule) bool { return r.Tool == "Bash" && r.Spec != "" }

// permitted returns the rule of this run that permits a call of an agent, given as its exact rule and where it is made;
// "" if none does: one that --allow gave for exactly this, or an answer. A path in either is one from the folder of the
// agent that asked.
func (s State) permitted(call, agent, cwd string) string {
	if call == "" {
		return ""
	}
	exact, err := rules.Parse(call)
	if err != nil {
		return ""
	}
	exact = exact.From(s.Folder(agent))
	runsIn := cwd
	if cwd == "" {
		runsIn = s.Folder(agent)
	}
	for _, given := range s.Config.Allow {
		// Claude has these rules itself, and asks all the same about some commands that a rule spells out, such as one that
		// writes to a file. The person has permitted that very call.
		if r, err := rules.Parse(given); err == nil && r.From(s.Folder(agent)) == exact && (cwd == "" || !isCommand(r)) {
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
		if in := cwdOf(q); isCommand(r) && (in == checkpoints.ElsewhereUnknown || runsIn != cmp.Or(in, folder)) {
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
	if !questions.KindOf(q.Kind).Ruled {
		return
	}
	d.reopen()
	if q.Skipped || q.Declined {
		return
	}
	if questions.Check(q, q.Answer, d.Folder(q.Agent)) != nil {
		d.question(q.ID).Answer = Deny + " " + q.Answer
		return
	}
	switch word, why := questions.Decision(q.Answer); word {
	case AllowRun:
		for _, other := range d.FindQuestions(func(o *Question) bool {
			return o.Kind == q.Kind && o.State == checkpoints.QuestionOpen
		}) {
			if rule := d.permitted(other.Rule, other.Agent, cwdOf(other)); rule != "" {
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
		return q.ByRule && q.State == checkpoints.QuestionAnswered && !q.Delivering &&
			d.permitted(q.Rule, q.Agent, cwdOf(q)) == ""
	}) {
		q := d.question(q.ID)
		q.State, q.Response, q.ByRule = checkpoints.QuestionOpen, checkpoints.Response{}, false
		dequeue(d.agent(q.Agent), q.Group)
	}
}

// A CallSite is where a call is made.
type CallSite struct {
	Folder string // the agent's
	Cwd    string // where it, or its subagent, has gone; "" if that is not known
}

// A CallView is what a person is shown of a call before it is permitted.
type CallView struct {
	Headline calls.Headline // for the question's text: what the call does
	Cwd      string         // where it is made, as a checkpoints.ToolCall has it
	Where    string         // the same in few words, for the question's text; "": the agent's own folder
	Preview  string         // all of the call, as package text writes it
	Rule     rules.Rule     // that permits exactly this in the whole run; the zero Rule if none can
	More     int            // how many bytes of the preview are left out; such a call can only be refused
}

// What an agent is told of a permission, and how that is shown to a person again.
func init() {
	handlers[questions.AskPermission] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.PermissionDecided(group[0], group[0].Revoked == unpackedBy)
		},
		within: func(group []*Question) string { return prompts.PermissionWithin(group[0]) },
		reply: func(call *checkpoints.ToolCall, group []*Question) Reply {
			if questions.Allowed(group[0]) {
				return Reply{Behavior: Allow, UpdatedInput: call.Input}
			}
			return Reply{Behavior: Deny, Message: "The person refuses this. " + prompts.Denial(group[0])}
		},
		anew: func(_ *transition, q *Question, seen map[string]SeenCall) bool {
			now, ok := seen[q.ID]
			if ok {
				reshow(q, now.Question)
				q.Rule, q.Fingerprint = now.Rule, FingerprintOf(*q.Tool)
			}
			return ok
		},
	}
}
