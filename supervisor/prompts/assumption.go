package prompts

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what an agent reads of a question that does not stop its work.

// AssumesNothing is what a call reads that would go on, and does not say with what, or asks several questions.
const AssumesNothing = "Nobody was asked: wait: false takes one question, and an assumption to go on with until it " +
	"is answered. Give both, or leave wait out."

// AffectsUnsaid says why what was made under an assumption is not listed.
const AffectsUnsaid = "You did not say what it affects: go through all that you have done since you asked."

// Assuming is the receipt of a question that does not stop the work.
func Assuming(q *Question) string {
	return fmt.Sprintf("Asked as %s. Go on under your assumption: %s\nThe answer comes as a message, when the person "+
		"gives it; do not wait or ask again. Before it is there your work does not count as done: report as usual when the "+
		"rest is.", q.ID, text.Line(q.Assumed.Text, text.MaxNamed))
}

// AnsweredAtOnce is what a call reads that would have gone on, and whose question was answered before.
func AnsweredAtOnce(group []*Question) string {
	return "## CLARIFICATION RESPONSE\n\nYour question is answered already:\n" + Numbered(group) +
		"\nAssume nothing: continue with this answer." + NotShown(group)
}

// StillAssuming reminds an agent that ends its turn without a report of what it has asked and need not wait for.
func StillAssuming(open []*Question) string {
	if len(open) == 0 {
		return ""
	}
	if open[0].Assumed == nil {
		return fmt.Sprintf("The person is asked whether your call that was refused may be made after all (%s), which does "+
			"not stop the work: report when the rest is done. ", open[0].ID)
	}
	return fmt.Sprintf("Your question %s is asked and does not stop the work: go on under your assumption, and report "+
		"when the rest is done. ", open[0].ID)
}

// Assumed is what an agent reads of the answer to a question that did not stop its work.
func Assumed(q *Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## CLARIFICATION RESPONSE\n\nYour question %s, which did not stop your work, has been answered:\n"+
		"%s\nYou assumed: %s\n\n## RESUME INSTRUCTIONS\n", q.ID, Numbered([]*Question{q}), q.Assumed.Text)
	b.WriteString(AssumedWithin(q))
	return b.String()
}

// AssumedWithin says what follows from the answer.
func AssumedWithin(q *Question) string {
	var b strings.Builder
	switch questions.VerdictOf(q) {
	case questions.Confirmed:
		return "This confirms what you assumed. Continue; do not repeat what is already done."
	case questions.Left:
		return "Your assumption stands. Continue; do not repeat what is already done."
	}
	b.WriteString("This is not what you assumed. Look through what you made under the assumption, mend it, then " +
		"continue with the answer. A report that you have given no longer counts: report again.\n")
	if made := q.Assumed.Made; len(made) > 0 {
		b.WriteString("Changed since you asked, in what you said that it affects (by you or others):\n- " +
			strings.Join(made, "\n- ") + "\n")
	}
	if q.Assumed.Unknown != "" {
		b.WriteString(q.Assumed.Unknown + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// AsideBySubagent tells the main conversation the answer to a question that does not stop the work of one of its
// subagents. reached: it can be sent messages, also after its end.
func AsideBySubagent(q *checkpoints.Question, answer string, sub *checkpoints.Subagent, reached bool) string {
	how := "It cannot be told: see to it yourself in what it has made."
	if reached {
		how = fmt.Sprintf("Hand it on: call SendMessage %s with to %q and the answer above as message, also if it has ended.",
			loadSendMessage, sub.ID)
	}
	had := "had asked the person, and works on under an assumption"
	if q.Assumed == nil {
		had = "has made a call that was refused, and the person was asked about it"
	}
	return fmt.Sprintf("Your subagent %s %s. What follows is the answer.\n\n%s\n\n## FOR YOUR SUBAGENT\n%s",
		strings.TrimSpace(NameOf(sub)), had, answer, how)
}
