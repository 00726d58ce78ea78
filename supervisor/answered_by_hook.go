package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
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

// decidedByHook records a hook's decision as the answer of a call's questions, whatever was answered here: the agent
// has that one, and is not told another. Not ok if it was told one already.
func (d *transition) decidedByHook(agent, toolUse string, by *procs.HookDecision) (ok bool) {
	group := d.AskedInCall(agent, toolUse)
	if len(group) == 0 || group[0].AnsweredBy == ByHook || by == nil && !slices.ContainsFunc(group, questions.TakenBack) {
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
	d.agent(agent).Dequeue(group[0].Group)
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
		switch answer, told := by.Answers[ask.AskedAs(q)]; {
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
