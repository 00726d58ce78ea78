package supervisor

import (
	"encoding/json"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// This file holds every text that an agent reads from us. The headings are those of the protocols document (002):
// agents written for it know them.

// identity is the EXECUTION CONTEXT that stands before every task.
func identity(a *Agent) string {
	parent := "the supervisor, which relays to a person"
	if a.Parent != "" {
		parent = "agent " + a.Parent
	}
	return fmt.Sprintf(`## EXECUTION CONTEXT: BACKGROUND AGENT

You run headless under claude-supervise. Nobody reads your output as you write it and you cannot talk to the user directly; a person is reachable through your supervisor, by the blocks below.
Your agent id: %s
Your parent: %s

When to ask: information is missing, requirements have several valid readings, or a choice is the person's to make. Ask instead of guessing; there is no time limit on the answer.
When not to ask: you can find it out from the files, or it is a technical decision with a clear best practice.

How: print a block exactly as below, its markers alone on their lines, then end your turn. The answer is your next message. AskUserQuestion works too. Subagents that you start cannot ask by block: have them tell you what they need, and ask on their behalf. Before you ask, save your work to files.
When all is done, print a COMPLETION_REPORT. Without one your work does not count as done. List each file that you made under deliverables, one "- path" a line.

%s`, a.ID, parent, strings.TrimSpace(signals.Templates(a.ID)))
}

// opening is the first prompt of a conversation. One that begins again in place of a lost one carries what is known
// of the work so far.
func (s State) opening(a *Agent) string {
	var b strings.Builder
	b.WriteString(identity(a))
	fmt.Fprintf(&b, "\n\n## YOUR TASK\n\n%s", a.Task)
	if a.Checkpoint == "" {
		return b.String()
	}
	fmt.Fprintf(&b, "\n\n## STATE RESTORATION\n\nYou have worked on this task before, in a conversation that is not at hand any more. What is known of it:\n\n%s\n\n"+
		"Look at what is on disk, do not do again what is done, and go on from there.", strings.TrimSpace(a.Checkpoint))
	if told := s.told(a.ID); told != "" {
		b.WriteString("\n\nAnswers that the person gave you then:\n" + told)
	}
	return b.String()
}

// told lists the answers that an earlier conversation of the agent was given.
func (s State) told(agent string) string {
	var b strings.Builder
	for _, q := range s.questions(func(q *Question) bool {
		return q.Agent == agent && q.State == checkpoints.QuestionDelivered && q.Kind != checkpoints.AskPermission
	}) {
		fmt.Fprintf(&b, "- %s\n  → %s\n", q.Text, answerOf(q))
	}
	return strings.TrimRight(b.String(), "\n")
}

func answerOf(q *Question) string {
	if q.Skipped {
		return "(no answer: go on without it)"
	}
	return q.Answer
}

// answerText is the prompt that gives a group of questions its answers.
func (s State) answerText(group []*Question) string {
	if len(group) == 0 {
		panic("supervisor: an answer to no question")
	}
	first := group[0]
	var sig signals.Signal
	if len(first.Signal) > 0 {
		if err := json.Unmarshal(first.Signal, &sig); err != nil {
			panic(fmt.Sprintf("supervisor: question %s holds a signal that cannot be read: %v", first.ID, err))
		}
	}
	switch first.Kind {
	case checkpoints.AskBlocker:
		return blockerResolved(first, sig)
	case checkpoints.AskPermission:
		return permissionDecided(first)
	}
	return clarificationResponse(group, sig)
}

// clarificationResponse is 002, "Parent Detection and Response". It restates each question, so that it stands alone
// in a conversation in which the asking was lost.
func clarificationResponse(group []*Question, sig signals.Signal) string {
	var b strings.Builder
	b.WriteString("## CLARIFICATION RESPONSE\n\nYour questions have been answered:\n")
	for i, q := range group {
		if q.State == checkpoints.QuestionWithdrawn {
			continue
		}
		fmt.Fprintf(&b, "\nQ%d: %s\nA%d: %s\n", i+1, q.Text, i+1, answerOf(q))
	}
	b.WriteString("\n## RESUME INSTRUCTIONS\n")
	line := func(name, value string) {
		if v := strings.TrimSpace(value); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	line("Continue from", sig.Field("blocked_at"))
	line("Current state", sig.Field("current_state"))
	if group[0].Tool != nil {
		fmt.Fprintf(&b, "Your call of %s was interrupted while it waited; these are its answers. Do not call it again for them.\n", group[0].Tool.Name)
	}
	b.WriteString("Next step: go on with these answers. Do not repeat what is already done.")
	return b.String()
}

// blockerResolved is 002, "Resume with Context".
func blockerResolved(q *Question, sig signals.Signal) string {
	resolution := strings.TrimSpace(strings.TrimPrefix(q.Answer, resolved))
	resolution = strings.TrimLeft(resolution, ": ")
	if resolution == "" {
		resolution = "The person says that it is resolved."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## BLOCKER RESOLVED\n\nIssue: %s\nResolution: %s\n", strings.TrimSpace(sig.Field("details")), resolution)
	if snapshot := strings.TrimSpace(sig.Field("state_snapshot")); snapshot != "" {
		fmt.Fprintf(&b, "\n## STATE RESTORATION\n%s\n", snapshot)
	}
	b.WriteString("\n## RESUME INSTRUCTIONS\n")
	if blocked := strings.TrimSpace(sig.Field("blocked_work")); blocked != "" {
		fmt.Fprintf(&b, "Continue with what was blocked:\n%s\n", blocked)
	}
	b.WriteString("Do not repeat what is already done.")
	return b.String()
}

func permissionDecided(q *Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## CLARIFICATION RESPONSE\n\nYour call of %s was interrupted while it waited for permission:\n\n%s\n\n", q.Tool.Name, q.Context)
	if q.Answer == allow {
		b.WriteString("The person allows it, once and exactly so.\n\n## RESUME INSTRUCTIONS\nMake the call again if it is still needed, unchanged; it will be let through.")
		return b.String()
	}
	fmt.Fprintf(&b, "The person refuses it. %s\n\n## RESUME INSTRUCTIONS\nDo not make this call. Go on without it, or ask.", denial(q))
	return b.String()
}

// denial gives the reason of a refused permission.
func denial(q *Question) string {
	if why := strings.TrimSpace(strings.TrimPrefix(q.Answer, deny)); why != "" {
		return "Reason: " + why
	}
	return "No reason was given."
}

// blockerQuestion makes the one question that a stop is.
func blockerQuestion(sig signals.Signal) signals.Question {
	var b strings.Builder
	for _, f := range []struct{ title, name string }{
		{"Blocked work", "blocked_work"}, {"Done so far", "completed_work"}, {"State", "state_snapshot"},
		{"Needed to go on", "resume_requirements"}, {"Possible fixes", "error_recovery"},
	} {
		if v := strings.TrimSpace(sig.Field(f.name)); v != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", f.title, v)
		}
	}
	text := strings.TrimSpace(sig.Field("details"))
	if text == "" {
		text = "The agent has stopped and gave no details."
	}
	header := sig.Field("blocker_type")
	if header == "" {
		header = sig.Field("stop_reason")
	}
	return signals.Question{
		ID: "stop", Text: text, Header: header, Context: strings.TrimSpace(b.String()),
		Options: []signals.Option{
			{Label: resolved, Description: "the blocker is gone; add what was done, e.g. resolved: ran npm install"},
			{Label: giveUp, Description: "end the agent as failed"},
		},
	}
}

func delegationDenied(sig signals.Signal) string {
	return fmt.Sprintf(`## DELEGATION DENIED

Task: %s
Reason: This supervisor starts no further agents.
Alternative: Do the part that you need yourself; put the rest under recommendations in your report.

## RESUME INSTRUCTIONS
Go on with your own task.`, firstLine(sig.Field("new_task_description")))
}

func deliverablesMissing(agent string, missing []string) string {
	return fmt.Sprintf(`## DELIVERABLES MISSING

Your report names files that are not on disk:
- %s

## RESUME INSTRUCTIONS
Make them, or correct the list; then print a new [COMPLETION_REPORT] with agent_id: %s.`, strings.Join(missing, "\n- "), agent)
}

func goOn(a *Agent) string {
	return fmt.Sprintf(`## GO ON

Your process was interrupted and has been started again in the same conversation. Check what of your last step took effect, do not repeat what is done, and go on with the task. If you had asked something that was not answered, ask it again. Your agent id is still %s.`, a.ID)
}

func gateReason(agent string) string {
	return fmt.Sprintf(`You end your turn without a report, an open question or work that still runs. If the task is done, print a [COMPLETION_REPORT] block with agent_id: %s. If you need something from the person, print a [CLARIFICATION_NEEDED] or [STOP_WORK] block. Else go on with the task.`, agent)
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
		Files:   files(sig.List("deliverables")),
		Metrics: sig.Field("metrics_achieved"), Issues: sig.Field("issues_encountered"),
		Recommendations: sig.Field("recommendations"), Duration: sig.Field("total_duration"),
	}
}

// A reply is the body that answers a call in its own turn, as the CLI takes it.
type reply struct {
	Behavior     string          `json:"behavior"` // allow, deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

// toolReply answers a call with the answers of its questions.
func toolReply(call *checkpoints.ToolCall, group []*Question) json.RawMessage {
	switch first := group[0]; {
	case first.Kind != checkpoints.AskPermission:
		return encode(reply{Behavior: allow, UpdatedInput: withAnswers(call.Input, group)})
	case first.Answer == allow:
		return encode(reply{Behavior: allow, UpdatedInput: call.Input})
	default:
		return encode(reply{Behavior: deny, Message: "The person refuses this. " + denial(first)})
	}
}

// withAnswers is the input of AskUserQuestion with its answers, by the text of each question.
func withAnswers(input json.RawMessage, group []*Question) json.RawMessage {
	answers := map[string]string{}
	for _, q := range group {
		answers[q.Text] = answerOf(q)
	}
	in := struct {
		Questions json.RawMessage   `json:"questions"`
		Answers   map[string]string `json:"answers"`
	}{Answers: answers}
	if err := json.Unmarshal(input, &in); err != nil {
		panic(fmt.Sprintf("supervisor: questions were read from an input that cannot be read: %v", err))
	}
	in.Answers = answers
	return encode(in)
}

// encode writes a value of ours, which can always be written.
func encode(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("supervisor: %T cannot be written: %v", v, err))
	}
	return doc
}
