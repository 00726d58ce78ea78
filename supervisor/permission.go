package supervisor

import (
	"cmp"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
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

// Rules returns what the persons who watch this run have permitted for the whole of it, oldest first.
func (s State) Rules() []ask.RunRule {
	var all []ask.RunRule
	for _, q := range s.FindQuestions(ask.GrantsRule) {
		all = append(all, ask.RuleOf(q))
	}
	return all
}

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
		if r, err := rules.Parse(given); err == nil && r.From(s.Folder(agent)) == exact && (cwd == "" || !ask.IsCommand(r)) {
			return given
		}
	}
	var granted []rules.Rule
	for _, q := range s.FindQuestions(ask.GrantsRule) {
		given, folder := ask.RuleOf(q).Rule, s.Folder(q.Agent)
		r, err := rules.Parse(given)
		if err != nil {
			continue
		}
		if in := ask.CwdOf(q); ask.IsCommand(r) && (in == checkpoints.ElsewhereUnknown || runsIn != cmp.Or(in, folder)) {
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
	q := d.Questions.Get(n.Question)
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
			if rule := d.permitted(other.Rule, other.Agent, ask.CwdOf(other)); rule != "" {
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
			d.permitted(q.Rule, q.Agent, ask.CwdOf(q)) == ""
	}) {
		q := d.question(q.ID)
		q.State, q.Response, q.ByRule = checkpoints.QuestionOpen, checkpoints.Response{}, false
		d.agent(q.Agent).Dequeue(q.Group)
	}
}

// What an agent is told of a permission, and how that is shown to a person again.
func init() {
	handlers[questions.AskPermission] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.PermissionDecided(group[0], group[0].Revoked == unpackedBy)
		},
		within: func(group []*Question) string { return prompts.PermissionWithin(group[0]) },
		reply: func(call *checkpoints.ToolCall, group []*Question) ask.Reply {
			if questions.Allowed(group[0]) {
				return ask.Reply{Behavior: Allow, UpdatedInput: call.Input}
			}
			return ask.Reply{Behavior: Deny, Message: "The person refuses this. " + prompts.Denial(group[0])}
		},
		anew: func(_ *transition, q *Question, seen map[string]ask.SeenCall) bool {
			now, ok := seen[q.ID]
			if ok {
				ask.Reshow(q, now.Question)
				q.Rule, q.Fingerprint = now.Rule, ask.FingerprintOf(*q.Tool)
			}
			return ok
		},
	}
}
