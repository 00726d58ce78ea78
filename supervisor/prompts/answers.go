package prompts

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

// Answer is the answer as the agent reads it.
func Answer(q *Question) string {
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

// Clarified returns the questions of a signal their answers, in the form in which they were asked. It restates each, so
// that it stands alone in a conversation in which the asking was lost.
func Clarified(group []*Question, sig signals.Signal) string {
	first := group[0]
	group = slices.DeleteFunc(slices.Clone(group), func(q *Question) bool {
		return q.State == checkpoints.QuestionWithdrawn
	})
	switch sig.Dialect {
	case signals.Awaiting:
		return awaitingAnswered(group, stateFile(first, sig))
	case signals.Paused:
		return pauseAnswered(group, stateFile(first, sig))
	case signals.Escalated:
		return escalationAnswered(group, stateFile(first, sig))
	case signals.TaskMetadata:
		return taskAnswered(group)
	}
	return clarificationResponse(group, sig)
}

// clarificationResponse is 002, "Parent Detection and Response".
func clarificationResponse(group []*Question, sig signals.Signal) string {
	var b strings.Builder
	b.WriteString("## CLARIFICATION RESPONSE\n\nYour questions have been answered:\n")
	b.WriteString(Numbered(group) + "\n## RESUME INSTRUCTIONS\n")
	line := func(name, value string) {
		if v := strings.TrimSpace(value); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	line("Continue from", sig.Field("blocked_at"))
	line("Current state", sig.Field("current_state"))
	if group[0].Tool != nil {
		fmt.Fprintf(&b,
			"Your call of %s was interrupted while it waited, and nobody has refused it, whatever its result says. These are "+
				"its answers; do not call it again for them.\n",
			group[0].Tool.Name)
	}
	b.WriteString("Next step: continue with these answers. Do not repeat what is already done.")
	return b.String()
}

// Numbered lists questions with their answers by their numbers.
func Numbered(group []*Question) string {
	var b strings.Builder
	for _, q := range group {
		fmt.Fprintf(&b, "\nQ%d: %s\nA%d: %s\n", q.Index+1, q.Text, q.Index+1, Answer(q))
	}
	return b.String()
}

// Told lists questions with their answers, as an earlier conversation was told them. child gives the agent that one has
// started, nil if it has none: it was put under another when the one that is told was stopped alone.
func Told(qs []*Question, child func(*Question) *Agent) string {
	var b strings.Builder
	for _, q := range qs {
		fmt.Fprintf(&b, "- %s\n  → %s\n", q.Text, Answer(q))
		if questions.KindOf(q.Kind).Plans && questions.Allowed(q) {
			fmt.Fprintf(&b, "  The plan, which you carry out:\n  | %s\n", strings.ReplaceAll(q.Context, "\n", "\n  | "))
		}
		if c := child(q); c != nil {
			fmt.Fprintf(&b, "  Agent %s does it (%s), now for agent %s; do not delegate it again.\n", c.ID, c.Status, c.Parent)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// stateFile says where the agent left its state: where it named it, and, should that be gone or have changed, the copy
// of the moment in which it asked.
func stateFile(q *Question, sig signals.Signal) string {
	if q.Kept != nil && q.Kept.Hand != "" {
		return q.Kept.Hand
	}
	return sig.Field("state_file")
}

// restated lists questions with their answers, below the form in which an agent's script looks for them.
func restated(group []*Question) string {
	var b strings.Builder
	for _, q := range group {
		fmt.Fprintf(&b, "\n%s: %s\nAnswer: %s\n", q.Own, q.Text, Answer(q))
	}
	return b.String()
}

// awaitingAnswered is 001, "Example 1", Step 4.
func awaitingAnswered(group []*Question, state string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "USER_INPUT_RESPONSE\n%s\n", AnswersByID(group))
	if state != "" {
		fmt.Fprintf(&b, "\nContinue from state file: %s\n", state)
	}
	b.WriteString(restated(group) + "\nContinue from where you left off. Do not repeat what is already done.")
	return b.String()
}

// Value is an answer as a program reads it: nil where its question was skipped, a list of what was chosen where
// several could be, else a string.
func Value(q *Question) any {
	switch labels := questions.Chosen(q); {
	case q.Skipped && !q.Declined:
		return nil
	case q.MultiSelect && len(labels) > 0:
		return labels
	}
	return Answer(q)
}

// UserAnswer is what the user_answer of a checkpoint holds for a group: the answer, and of several questions an object
// of Values. A question that is alone and was skipped has words there: null says that nobody has answered yet.
func UserAnswer(group []*Question) json.RawMessage {
	switch {
	case len(group) > 1:
		return AnswersByID(group)
	case group[0].Skipped:
		return text.JSON(Answer(group[0]))
	}
	return text.JSON(Value(group[0]))
}

// AnswersByID is a JSON object of the Values by the agent's own ids, in the order in which they were asked.
func AnswersByID(group []*Question) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for i, q := range group {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", text.JSON(q.Own), text.JSON(Value(q)))
	}
	return json.RawMessage(b.String() + "}")
}

// pauseAnswered is 001, "Example 3", Step 3: the label that was chosen, and its letter.
func pauseAnswered(group []*Question, state string) string {
	var b strings.Builder
	b.WriteString("USER_INPUT_RESPONSE\n")
	for _, q := range group {
		fmt.Fprintf(&b, "\nQuestion: %s\nAnswer: %s\n", q.Text, Answer(q))
		if letter := letterOf(q); letter != "" {
			fmt.Fprintf(&b, "Letter: %s\n", letter)
		}
	}
	if state != "" {
		fmt.Fprintf(&b, "\nContinue from state file: %s\n", state)
	}
	b.WriteString("\nContinue from where you left off. Do not repeat what is already done.")
	return b.String()
}

// letterOf returns the letters of the options that were chosen; "" for an answer in own words.
func letterOf(q *Question) string {
	labels := questions.Chosen(q)
	var letters []string
	for i, o := range q.Options {
		if slices.Contains(labels, o.Label) {
			letters = append(letters, string(rune('A'+i%26)))
		}
	}
	return strings.Join(letters, ", ")
}

// escalationAnswered is 000, "Main Agent Handles Escalated Question".
func escalationAnswered(group []*Question, checkpoint string) string {
	var answers []string
	for _, q := range group {
		answers = append(answers, strings.TrimSuffix(Answer(q), "."))
	}
	selected := strings.Join(answers, "; ") + ". Continue implementation."
	if !slices.ContainsFunc(group, func(q *Question) bool { return q.Declined }) {
		selected = "User selected: " + selected
	}
	if checkpoint != "" {
		selected = fmt.Sprintf("Resume workflow from checkpoint: %s. %s", checkpoint, selected)
	}
	return selected + "\n" + restated(group) + "\nDo not repeat what is already done."
}

// taskAnswered is 001, "Example 2", Step 2.
func taskAnswered(group []*Question) string {
	var b strings.Builder
	for _, q := range group {
		said := fmt.Sprintf("User chose: %q. Continue from where you left off.", Answer(q))
		if q.Declined {
			said = declined(q)
		}
		fmt.Fprintf(&b,
			"%s\n\nQuestion: %s\nSet in your task's metadata: {\"needs_input\": false, \"user_answer\": %s, \"answered_at\": "+
				"%s}\n",
			said, q.Text, text.JSON(Answer(q)), text.JSON(q.AnsweredAt))
	}
	return strings.TrimSpace(b.String())
}

// Served is what a call of ask_user returns: the answer alone, or a line of "id: answer" each, quoted where it
// has several lines or could be taken for a quoted one or for the lack of one. Labels that hold what joins them are a
// list.
func Served(group []*Question) string {
	var lines []string
	for _, q := range group {
		answer := Answer(q)
		switch labels := questions.Chosen(q); {
		case len(labels) > 1 && slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(l, ", ") }):
			answer = string(text.JSON(labels))
		case len(group) > 1 && !q.Skipped && !q.Declined && !unquoted(answer):
			answer = string(text.JSON(answer))
		}
		if len(group) > 1 {
			answer = q.Own + ": " + answer
		}
		lines = append(lines, answer)
	}
	return strings.Join(lines, "\n") + NotShown(group)
}

// unquoted reports whether an answer is one line that is nothing but itself.
func unquoted(answer string) bool {
	return answer != "" && !strings.ContainsAny(answer[:1], `"([`) && !strings.ContainsAny(answer, "\r\n")
}

// NotShown says what of its questions the person did not see, so that the agent takes no answer for one to all of it.
func NotShown(group []*Question) string {
	var b strings.Builder
	for _, q := range group {
		if q.Truncated != "" {
			fmt.Fprintf(&b, "\n\n(%s was not shown whole: %s. Put what is long into a file and name the file.)",
				q.Own, q.Truncated)
		}
	}
	return b.String()
}

// Declined is what a call reads none of whose questions the person will answer.
func Declined(group []*Question) string {
	if len(group) == 1 {
		return declined(group[0])
	}
	return strings.TrimSpace(restated(group))
}
