package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file holds the texts that an agent reads from us after its identity (identity.go). The headings are those of the
// protocols document (002): agents written for it know them.

// opening is the first prompt of a conversation. One that begins again in place of a lost one carries what is known
// of the work so far.
func (s State) opening(a *Agent) string {
	var b strings.Builder
	if a.From != "" {
		b.WriteString(
			"What stands above is the conversation that you begin with. From here on you are an agent of your own, with this " +
				"id and this task.\n\n")
	}
	b.WriteString(s.identity(a))
	fmt.Fprintf(&b, "\n\n## YOUR TASK\n\n%s", a.Task)
	if where := whereabouts(a); where != "" {
		b.WriteString("\n\n" + where)
	}
	if pool := s.poolEnded(a); pool != "" {
		b.WriteString("\n\n" + pool)
	}
	if a.Delegated != nil {
		ends := endsTold(0)
		for _, id := range a.Delegated.After {
			b.WriteString("\n\n" + ends.one(s.childEnded(s.Agents[id]), id))
		}
	}
	told, delegated := s.told(a.ID), s.delegatedBefore(a)
	if a.Checkpoint == "" && told == "" && delegated == "" {
		return b.String()
	}
	b.WriteString(
		"\n\n## STATE RESTORATION\n\nYou have worked on this task before, in a conversation that is not at hand any more. ")
	if a.Checkpoint != "" {
		fmt.Fprintf(&b, "What is known of it:\n\n%s\n\n", strings.TrimSpace(a.Checkpoint))
	}
	b.WriteString("Look at what is on disk, do not do again what is done, and continue from there.")
	if told != "" {
		b.WriteString("\n\nAnswers that the person gave you then:\n" + told)
	}
	b.WriteString(delegated)
	return b.String()
}

// told lists the answers that an earlier conversation of the agent was given.
func (s State) told(agent string) string {
	var b strings.Builder
	for _, q := range s.FindQuestionsOf(agent, func(q *Question) bool {
		if _, start := s.delegated(q); start && s.Agents[q.Child] != nil {
			return false // the list of its children tells
		}
		kind := questions.KindOf(q.Kind)
		return q.State == checkpoints.QuestionDelivered && !kind.InCall && !kind.Runs
	}) {
		fmt.Fprintf(&b, "- %s\n  → %s\n", q.Text, AnswerOf(q))
	}
	return strings.TrimRight(b.String(), "\n")
}

// AnswerOf is the answer as the agent reads it.
func AnswerOf(q *Question) string {
	switch {
	case q.Declined:
		return declined(q)
	case q.Skipped:
		return "(no answer: continue without it)"
	}
	return q.Answer
}

// declined says that the person will not answer, and what is to be done now.
func declined(q *Question) string {
	why := ""
	if words := strings.TrimSuffix(strings.TrimSpace(q.Answer), "."); words != "" {
		why = ": " + words
	}
	return "The person declines to answer" + why + ". Continue without it, or end with a report."
}

func deliverablesMissing(agent string, missing []string) string {
	return fmt.Sprintf(`## DELIVERABLES MISSING

Your task or your report names files that are not on disk:
- %s

## RESUME INSTRUCTIONS
Make them, or correct the list; then call report_completion again (without that tool: print a new [COMPLETION_REPORT] `+
		`with agent_id: %s).`, strings.Join(missing, "\n- "), agent)
}

func reportWanted(agent, why string) string {
	return fmt.Sprintf(`## COMPLETION REPORT WANTED

%s The work counts as done with a report: call report_completion (without that tool: print a [COMPLETION_REPORT] `+
		`block with agent_id: %s).`, why, agent)
}

func (s State) goOn(a *Agent) string {
	text := fmt.Sprintf(`## GO ON

Your process was interrupted and has been started again in the same conversation. Check what of your last step took `+
		`effect, do not repeat what is done, and continue with the task. If you had asked something that was not answered, `+
		`ask it again. Your agent id is still %s.`, a.ID)
	if len(s.Children(a.ID)) > 0 {
		children, _ := s.work(a, "", nil)
		text += "\n\nWork that you have delegated; do not delegate it again:\n" + children
	}
	return text
}

func gateReason(a *Agent, unfiled, unheard []string) string {
	lost := partsTold(a)
	for _, id := range unfiled {
		lost += fmt.Sprintf("Nobody was asked by QUESTION_ESCALATED:%s: there is no question file %s.json in "+
			"~/.claude/questions/pending. Write it and print the line again, or ask with ask_user. ", id, id)
	}
	for _, sub := range unheard {
		lost += fmt.Sprintf("Your subagent %s ended with a question that nobody was asked. Ask it on its behalf with "+
			"ask_user, then send it the answer by SendMessage. ", sub)
	}
	return lost + fmt.Sprintf(
		`You end your turn without a report, an open question or work that still runs. If the task is done, call `+
			`report_completion. If you need something from the person, call ask_user or stop_work. Else continue with the `+
			`task. Without these tools: print a [COMPLETION_REPORT], [CLARIFICATION_NEEDED] or [STOP_WORK] block with `+
			`agent_id: %s.`,
		a.ID)
}

// report makes the record of a completion report.
func report(sig signals.Signal) *checkpoints.Report {
	status := strings.ToLower(strings.TrimSpace(sig.Field("status")))
	switch status {
	case "success", "partial_success", "failed":
	default:
		status = "success"
		if strings.TrimSpace(sig.Field("status")) != "" {
			status = "partial_success" // a status that we cannot read is not taken for a success
		}
	}
	return &checkpoints.Report{
		Status: status, Summary: strings.TrimSpace(sig.Field("summary")), Deliverables: sig.Field("deliverables"),
		Files:   paths(deliverables(sig.List("deliverables"))),
		Metrics: sig.Field("metrics_achieved"), Issues: sig.Field("issues_encountered"),
		Recommendations: sig.Field("recommendations"), Duration: sig.Field("total_duration"),
	}
}

// A Reply is the body that answers a call in its own turn, as the CLI takes it.
type Reply struct {
	Behavior     string          `json:"behavior,omitempty"` // allow, deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`

	Action  string          `json:"action,omitempty"` // of an elicitation: accept, decline, cancel
	Content json.RawMessage `json:"content,omitempty"`
}

// replyTo answers the call that a group of questions came by. A tool of ours returns a text.
func (s State) replyTo(group []*Question) json.RawMessage {
	first := group[0]
	switch {
	case !first.Tool.Served:
		return toolReply(first.Tool, group)
	case handlers[first.Kind].prompt != nil:
		return text.JSON(Reply{Behavior: Allow, Message: s.answerText(group)})
	}
	return text.JSON(Reply{Behavior: Allow, Message: servedAnswer(group)})
}

// toolReply answers a call with the answers of its questions.
func toolReply(call *checkpoints.ToolCall, group []*Question) json.RawMessage {
	switch reply := handlers[group[0].Kind].reply; {
	case reply != nil:
		return text.JSON(reply(call, group))
	case !slices.ContainsFunc(group, func(q *Question) bool { return !q.Declined }):
		return text.JSON(Reply{Behavior: Deny, Message: answersDeclined(group)})
	}
	return text.JSON(Reply{Behavior: Allow, UpdatedInput: withAnswers(call.Input, group)})
}
