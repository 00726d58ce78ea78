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

// This file writes the answers as the agents read them, each in the form in which it was asked.

func init() {
	handlers[questions.AskClarification] = handler{signal: signals.Clarification, asked: inContext}
}

// SignalOf gives the signal that a question came from; the zero Signal if it came by a call.
func SignalOf(q *Question) signals.Signal {
	var sig signals.Signal
	if len(q.Signal) > 0 {
		if err := json.Unmarshal(q.Signal, &sig); err != nil {
			panic(fmt.Sprintf("supervisor: question %s holds a signal that cannot be read: %v", q.ID, err))
		}
	}
	return sig
}

// answerText is the prompt that gives a group of questions its answers. It restates each question, so that it stands
// alone in a conversation in which the asking was lost.
func (s State) answerText(group []*Question) string {
	if len(group) == 0 {
		panic("supervisor: an answer to no question")
	}
	if prompt := handlers[group[0].Kind].prompt; prompt != nil {
		return prompt(s, group)
	}
	return s.clarified(group) + notShown(group)
}

// clarified is that of a clarification.
func (s State) clarified(group []*Question) string {
	first := group[0]
	sig := SignalOf(first)
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
	for _, q := range group {
		fmt.Fprintf(&b, "\nQ%d: %s\nA%d: %s\n", q.Index+1, q.Text, q.Index+1, AnswerOf(q))
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
		fmt.Fprintf(&b,
			"Your call of %s was interrupted while it waited, and nobody has refused it, whatever its result says. These are "+
				"its answers; do not call it again for them.\n",
			group[0].Tool.Name)
	}
	b.WriteString("Next step: continue with these answers. Do not repeat what is already done.")
	return b.String()
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
		fmt.Fprintf(&b, "\n%s: %s\nAnswer: %s\n", q.Own, q.Text, AnswerOf(q))
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

// AnswerValue is an answer as a program reads it: nil where its question was skipped, a list of what was chosen where
// several could be, else a string.
func AnswerValue(q *Question) any {
	switch labels := questions.Chosen(q); {
	case q.Skipped && !q.Declined:
		return nil
	case q.MultiSelect && len(labels) > 0:
		return labels
	}
	return AnswerOf(q)
}

// UserAnswer is what the user_answer of a checkpoint holds for a group: the answer, and of several questions an object
// of AnswerValues. A question that is alone and was skipped has words there: null says that nobody has answered yet.
func UserAnswer(group []*Question) json.RawMessage {
	switch {
	case len(group) > 1:
		return AnswersByID(group)
	case group[0].Skipped:
		return text.JSON(AnswerOf(group[0]))
	}
	return text.JSON(AnswerValue(group[0]))
}

// AnswersByID is a JSON object of the AnswerValues by the agent's own ids, in the order in which they were asked.
func AnswersByID(group []*Question) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for i, q := range group {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", text.JSON(q.Own), text.JSON(AnswerValue(q)))
	}
	return json.RawMessage(b.String() + "}")
}

// pauseAnswered is 001, "Example 3", Step 3: the label that was chosen, and its letter.
func pauseAnswered(group []*Question, state string) string {
	var b strings.Builder
	b.WriteString("USER_INPUT_RESPONSE\n")
	for _, q := range group {
		fmt.Fprintf(&b, "\nQuestion: %s\nAnswer: %s\n", q.Text, AnswerOf(q))
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

// letterOf gives the letters of the options that were chosen; "" for an answer in own words.
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
		answers = append(answers, strings.TrimSuffix(AnswerOf(q), "."))
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
		said := fmt.Sprintf("User chose: %q. Continue from where you left off.", AnswerOf(q))
		if q.Declined {
			said = declined(q)
		}
		fmt.Fprintf(&b,
			"%s\n\nQuestion: %s\nSet in your task's metadata: {\"needs_input\": false, \"user_answer\": %s, \"answered_at\": "+
				"%s}\n",
			said, q.Text, text.JSON(AnswerOf(q)), text.JSON(q.AnsweredAt))
	}
	return strings.TrimSpace(b.String())
}

// servedAnswer is what a call of ask_user returns: the answer alone, or a line of "id: answer" each, quoted where it
// has several lines or could be taken for a quoted one or for the lack of one. Labels that hold what joins them are a
// list.
func servedAnswer(group []*Question) string {
	var lines []string
	for _, q := range group {
		answer := AnswerOf(q)
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
	return strings.Join(lines, "\n") + notShown(group)
}

// unquoted reports whether an answer is one line that is nothing but itself.
func unquoted(answer string) bool {
	return answer != "" && !strings.ContainsAny(answer[:1], `"([`) && !strings.ContainsAny(answer, "\r\n")
}

// notShown says what of its questions the person did not see, so that the agent takes no answer for one to all of it.
func notShown(group []*Question) string {
	var b strings.Builder
	for _, q := range group {
		if q.Truncated != "" {
			fmt.Fprintf(&b, "\n\n(%s was not shown whole: %s. Put what is long into a file and name the file.)",
				q.Own, q.Truncated)
		}
	}
	return b.String()
}

// answersDeclined is what a call reads none of whose questions the person will answer.
func answersDeclined(group []*Question) string {
	if len(group) == 1 {
		return declined(group[0])
	}
	return strings.TrimSpace(restated(group))
}
