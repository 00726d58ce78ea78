package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of a question that a hook of the person's own (PermissionRequest) answers: claude asks it
// together with us, takes the first answer, and takes its request to us back without saying why. Who has answered is
// told by the result of the call alone (2.1.332). Where that does not say it, the question is withdrawn by claude, and
// nobody is named.

// ByHook names who has answered a call in place of who was asked here.
const ByHook = checkpoints.ByHook

// withdrawnByClaude is what is known of a request that claude has taken back while its process went on.
const withdrawnByClaude = "withdrawn by claude, which does not say why"

// DecidedByHook says that a hook of the person's own has decided about a call that waited for an answer here, or had
// one. Hook is nil where the call has had a result otherwise, after claude had taken its request back.
type DecidedByHook struct {
	Agent   string
	ToolUse string
	Hook    *procs.HookDecision `json:",omitempty"`
}

var _ = kind[DecidedByHook]("decided_by_hook")

func (e DecidedByHook) apply(d *transition) error {
	if !d.decidedByHook(e.Agent, e.ToolUse, e.Hook) {
		return unwelcome("no question of call %s is decided elsewhere", e.ToolUse)
	}
	return nil
}

// DecidedElsewhere reports whether the result of a call says that it was not decided here, though it was asked.
func (s State) DecidedElsewhere(agent string, r procs.ToolResult) bool {
	group := s.askedInCall(agent, r.ToolUse)
	return len(group) > 0 && (r.Hook != nil || !r.BrokenOff && slices.ContainsFunc(group, cancelled))
}

// askedInCall returns the questions of a call of a tool of the CLI's.
func (s State) askedInCall(agent, toolUse string) []*Question {
	return s.FindQuestionsOf(agent, func(q *Question) bool { return hookable(q) && q.Tool.ToolUse == toolUse })
}

// Undecided returns the calls of a launch whose questions have no answer that the agent is known to have: a hook may
// have answered them in a moment that nobody has seen.
func (s State) Undecided(l *Launch) []string {
	var calls []string
	for _, q := range s.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return q.Index == 0 && hookable(q) && q.State != checkpoints.QuestionDelivered && l.StartedAt != nil &&
			!q.AskedAt.Before(*l.StartedAt)
	}) {
		calls = append(calls, q.Tool.ToolUse)
	}
	return calls
}

// hookable reports whether a hook may answer in place of a person: what is asked by can_use_tool.
func hookable(q *Question) bool {
	return q.Tool != nil && !q.Tool.Served && q.Tool.ToolUse != "" && !questions.KindOf(q.Kind).Server
}

// decidedByHook records a hook's decision as the answer of a call's questions, whatever was answered here: the agent
// has that one, and is not told another. Not ok if it was told one already.
func (d *transition) decidedByHook(agent, toolUse string, by *procs.HookDecision) (ok bool) {
	group := d.askedInCall(agent, toolUse)
	if len(group) == 0 || group[0].AnsweredBy == ByHook || by == nil && !slices.ContainsFunc(group, cancelled) {
		return false
	}
	deliveries := d.FindDeliveries(agent, func(v *Delivery) bool {
		return v.State != checkpoints.DeliveryDropped &&
			(v.Tool != nil && v.Tool.ToolUse == toolUse || slices.Contains(v.Groups, group[0].Group))
	})
	if slices.ContainsFunc(deliveries, (*Delivery).Prompt) {
		return false
	}
	for _, v := range deliveries {
		d.delivery(v.UUID).State = checkpoints.DeliveryDropped
	}
	dequeue(d.agent(agent), group[0].Group)
	for _, q := range group {
		q = d.question(q.ID)
		lost := ""
		if q.AnsweredAt != nil && !q.ByRule {
			lost = notUsed(prompts.Answer(q), q.AnsweredBy)
		}
		at := d.at
		q.Delivering = false
		if by == nil {
			q.State, q.Remark = checkpoints.QuestionWithdrawn, joinRemarks(withdrawnByClaude, lost)
			continue
		}
		q.State, q.Remark, q.ByRule = checkpoints.QuestionDelivered, lost, false
		q.Response = checkpoints.Response{AnsweredAt: &at, AnsweredBy: ByHook}
		yes := questions.KindOf(q.Kind).Yes
		switch answer, told := by.Answers[askedAs(q)]; {
		case yes != "" && by.Accepted:
			q.Answer = yes
		case yes != "":
			q.Answer = questions.Refusing(q.Kind, by.Text)
		case by.Accepted:
			q.Answer, q.Skipped = answer, !told
		default:
			q.Answer, q.Declined = by.Text, true
		}
	}
	return true
}

// cancelled reports whether claude has taken back the request of a question that has an answer.
func cancelled(q *Question) bool {
	return q.State == checkpoints.QuestionAnswered && !q.Delivering && q.Tool.Launch == 0
}

// askedAs returns the text of a question of AskUserQuestion as the CLI has it.
func askedAs(q *Question) string {
	var in struct{ Questions []struct{ Question string } }
	if json.Unmarshal(q.Tool.Input, &in) != nil || q.Index >= len(in.Questions) {
		return q.Text
	}
	return in.Questions[q.Index].Question
}

// afterHook keeps an answer that was accepted before anybody knew of the hook's.
func (d *transition) afterHook(n InboxEntry) {
	q := d.question(n.Question)
	given := *q
	given.Answer, given.Skipped, given.Declined = n.Value, n.Skip, n.Decline
	q.Remark = joinRemarks(q.Remark, notUsed(prompts.Answer(&given), n.By))
}

// unused begins the remark about an answer that came too late.
const unused = "not used, since it came later: "

func notUsed(answer, by string) string {
	return unused + fmt.Sprintf("%q by %s", text.Line(answer, text.MaxLine), by)
}

func joinRemarks(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// lostAnswer says that an answer came after another, which claude has used; "" if none did with this change.
func lostAnswer(before, q *Question) string {
	if !strings.Contains(q.Remark, unused) || before != nil && before.Remark == q.Remark {
		return ""
	}
	by := "elsewhere"
	if q.AnsweredBy == ByHook {
		by = "by " + ByHook
	}
	return fmt.Sprintf("%s was answered %s first; what was answered here is not used", q.ID, by)
}
