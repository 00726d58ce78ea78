package supervisor

import (
	"encoding/json"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// Asked is a control request that waits for a person.
type Asked struct {
	Agent     string
	Launch    int
	Call      checkpoints.ToolCall
	Kind      checkpoints.QuestionKind
	Questions []signals.Question
	Refused   string `json:",omitempty"` // why nobody is asked, as the agent reads it
	Rule      string `json:",omitempty"` // the rule that permits exactly this in the whole run; "": none can
	Beside    bool   `json:",omitempty"` // something else of the agent is at work, which a park would break off
	Naming
}

var _ = kind[Asked]("asked")

func (e Asked) apply(d *transition) error {
	l, err := d.current(e.Agent, e.Launch)
	if err != nil {
		return err
	}
	if d.knowsRequest(l, e.Call.Request) {
		return unwelcome("request %s again", e.Call.Request)
	}
	fp := ask.FingerprintOf(e.Call)
	if v, ok := d.unasked(e, l, fp); ok {
		d.begin(d.agent(e.Agent), l, v)
		return nil
	}
	if e.Beside {
		d.last(e.Agent).BusyElsewhere = true
	}
	d.openQuestions(e.Agent, e.Kind, e.Questions, e.Naming, func(q *Question) {
		call := e.Call
		q.Fingerprint, q.Tool, q.Rule = fp, &call, e.Rule
	})
	return nil
}

// unasked returns what a call is answered that nobody is asked about; not ok if a person is.
func (d *transition) unasked(b Asked, l *Launch, fingerprint string) (v delivering, ok bool) {
	call, kind := b.Call, questions.KindOf(b.Kind)
	answer := func(why string, r json.RawMessage) (delivering, bool) {
		return delivering{key: fmt.Sprintf("%s %d %s", why, l.N, call.Request), tool: &call, reply: r}, true
	}
	switch {
	case b.Refused != "":
		return answer("refused", text.JSON(ask.Reply{Behavior: Deny, Message: b.Refused}))
	case !kind.InCall:
		return v, false
	case kind.Refused: // the hook before the call asks: what is not allowed is left to rules and modes
		g := d.grant(b, fingerprint)
		if g == nil {
			call.ToolUse = "" // its result is no receipt
			return answer("left", text.JSON(ask.Reply{}))
		}
		return d.spend(g, &call), true
	case kind.Ruled && d.readsOwnRun(b.Agent, call):
		return answer("own run", text.JSON(ask.Reply{Behavior: Allow, UpdatedInput: call.Input}))
	case kind.Ruled && d.Config.Permissions == conf.DenyPermissions:
		return answer("denied", text.JSON(ask.Reply{Behavior: Deny, Message: prompts.PermissionsDenied}))
	}
	if g := d.grant(b, fingerprint); g != nil {
		return d.spend(g, &call), true
	}
	if kind.Ruled && d.permitted(b.Rule, b.Agent, call.Cwd) != "" {
		return answer("by rule", text.JSON(ask.Reply{Behavior: Allow, UpdatedInput: call.Input}))
	}
	return v, false
}

// spend has a call answered by what a person has answered before, which is good for it alone.
func (d *transition) spend(g *Question, call *checkpoints.ToolCall) delivering {
	d.question(g.ID).GrantSpent = true
	return delivering{key: "grant " + g.ID, grant: g.ID, tool: call, reply: toolReply(call, d.Group(g.Group))}
}

// grant finds a permission, or an answer to an MCP server, that was given after its call was gone, for exactly this
// tool and input in that folder, and of which the agent was told. It is good for one call: without it a parked agent
// would ask for ever. The rule differs where the path has become a link, or one no more, and leads to another file than
// the person has seen; the evidence where the file has changed since.
func (d *transition) grant(b Asked, fingerprint string) *Question {
	kind := questions.KindOf(b.Kind)
	for _, q := range d.FindQuestionsOf(b.Agent, func(q *Question) bool {
		return q.Kind == b.Kind && q.Fingerprint == fingerprint && q.Rule == b.Rule && ask.CwdOf(q) == b.Call.Cwd &&
			!q.GrantSpent &&
			(!kind.Evidence || ask.SameEvidence(q.Context, b.Questions[0].Context)) &&
			(questions.Allowed(q) || kind.Server && !ask.Revoked(d.Group(q.Group))) &&
			(!kind.Refused || q.From.Same(b.Call.From))
	}) {
		if d.ToldGrant(q) {
			return q
		}
	}
	return nil
}

// AskCancelled withdraws a request or call.
type AskCancelled struct {
	Agent   string
	Launch  int
	Request string
}

var _ = kind[AskCancelled]("ask_cancelled")

// apply takes note that nobody waits in a call any more. What is answered already is said by a prompt instead.
func (e AskCancelled) apply(d *transition) error {
	found, l := false, d.Live(e.Agent)
	goesOn := l != nil && l.N == e.Launch && l.End == "" && d.Agents.Get(e.Agent).StopWanted == ""
	for _, q := range d.FindQuestionsOf(e.Agent, func(q *Question) bool {
		return q.Tool != nil && q.Tool.Launch == e.Launch && q.Tool.Request == e.Request
	}) {
		switch q.State {
		case checkpoints.QuestionOpen:
			q = d.question(q.ID)
			q.State = checkpoints.QuestionWithdrawn
			if goesOn {
				q.Remark = withdrawnByClaude
			}
		case checkpoints.QuestionAnswered:
			call := *q.Tool
			call.Launch = 0 // no process waits in it
			d.question(q.ID).Tool = &call
		default:
			continue
		}
		found = true
	}
	for _, v := range d.FindDeliveries(e.Agent, func(v *Delivery) bool {
		return v.Tool != nil && v.Tool.Launch == e.Launch && v.Tool.Request == e.Request && v.Undelivered()
	}) {
		d.drop(v.UUID)
		found = true
	}
	if l != nil && l.N == e.Launch && l.ReplyAt(e.Request) >= 0 {
		d.forget(d.last(e.Agent), e.Request)
		found = true
	}
	if !found {
		return unwelcome("no question of request %s waits", e.Request)
	}
	return nil
}

// NotificationSent says that the one notice of a question was given, or why the person's own command could not be told.
type NotificationSent struct{ Question, Problem string }

var _ = kind[NotificationSent]("noticed")

func (e NotificationSent) apply(d *transition) error {
	d.question(e.Question).Noticed = d.Run.Epoch
	return nil
}

func (NotificationSent) mayBeLost() bool { return true }

// ParseAsk reads a control request as the questions that a person answers: those of AskUserQuestion or of an MCP
// server, whether a plan is approved, or whether another tool is permitted. look shows a call to that person. The error
// is for the model: why nobody is asked.
func ParseAsk(m procs.Ask, look func(tool string, input json.RawMessage) ask.CallView) (Asked, error) {
	if m.Elicits {
		return Asked{Kind: questions.AskElicitation, Questions: ask.Elicitation(m.Input)}, nil
	}
	if m.Name == ask.AskUserQuestion {
		qs, err := ask.UserQuestions(m.Input)
		return Asked{Kind: questions.AskClarification, Questions: qs}, err
	}
	if m.Name == ask.ExitPlanMode && !m.Refused {
		return Asked{Kind: questions.AskPlan, Questions: []signals.Question{ask.Plan(m.Input, m.From.ID)}}, nil
	}
	seen := look(m.Name, m.Input)
	q, rule := ask.Permission(m, seen)
	if m.Refused {
		return Asked{Kind: questions.AskRefusal, Questions: []signals.Question{ask.AboutRefused(q)},
			Call: checkpoints.ToolCall{Cwd: seen.Cwd}}, nil
	}
	return Asked{Kind: questions.AskPermission, Questions: []signals.Question{q}, Rule: rule,
		Call: checkpoints.ToolCall{Cwd: seen.Cwd}}, nil
}
