package pack

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
)

// SeenCalls shows the calls of the permissions that are or may become open, as look sees them.
func SeenCalls(s supervisor.State,
	look func(call *checkpoints.ToolCall, agent string) ask.CallView) map[string]ask.SeenCall {
	seen := map[string]ask.SeenCall{}
	for q := range s.Questions.Values() {
		if questions.KindOf(q.Kind).Ruled && q.Tool != nil &&
			(q.IsOpen() || q.State == checkpoints.QuestionAnswered) {
			asked, rule := ask.Permission(askOf(q.Tool), look(q.Tool, q.Agent))
			seen[q.ID] = ask.SeenCall{Question: asked, Rule: rule}
		}
	}
	return seen
}

func askOf(call *checkpoints.ToolCall) procs.Ask {
	ask := procs.Ask{Name: call.Name, Input: call.Input}
	if call.From != nil {
		ask.From = procs.Subagent{ID: call.From.ID}
	}
	return ask
}

// HeldNotes returns the inbox of a pack file, and says what of it does not count here: an answer that grants something,
// and the answer to a question that is asked anew. Both stay, as notes that nothing follows from. In a file that is
// vouched for, an answer that waits counts.
func HeldNotes(notes []supervisor.InboxEntry, taken int64, s supervisor.State,
	vouched bool) (kept []supervisor.InboxEntry, withheld []Withheld) {
	for _, n := range notes {
		q := s.Questions.Get(n.Question)
		if q != nil && (n.Kind == supervisor.EntryAnswer || n.Kind == supervisor.EntryChange) {
			n.AllLike = n.AllLike && vouched
			answered := *q
			answered.State, answered.Answer, answered.Skipped, answered.Declined = checkpoints.QuestionAnswered, n.Value, n.Skip,
				n.Decline
			waits := n.Seq > taken
			grants := waits && !vouched && questions.Grants(&answered)
			if grants {
				withheld = append(withheld, Withheld{What: "the answer to " + q.ID + " (" + string(q.Kind) + "): " + n.Value})
			}
			if grants || !waits && q.IsOpen() {
				n.Kind, n.Question = noteHeld, ""
			}
		}
		kept = append(kept, n)
	}
	return kept, withheld
}

// noteHeld is a note of which nothing follows: an answer that came in a pack file and does not count here.
const noteHeld = "held"

// unended is how many agents go on, or may begin.
func unended(s supervisor.State) int {
	n := 0
	for a := range s.Agents.Values() {
		if !a.Status.Ended() {
			n++
		}
	}
	return n
}
