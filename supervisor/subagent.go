package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of a subagent that has asked a person when its process has ended before its work. The
// subagent has gone with it, and the CLI does not bring it back: the main conversation is told the answer that it had
// waited for, or that it had its answer, and revives the subagent with its work, or, where the release cannot do that
// or the conversation is a new one, gives its task again. Left alone, the main conversation would begin that task anew,
// and a person be asked again.

// AskedIn gives the first questions of the calls in which subagents have asked in a launch.
func (s State) AskedIn(l *Launch) []*Question {
	return s.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return q.Index == 0 && q.Tool != nil && q.Tool.From != nil && q.Tool.Launch == l.N &&
			q.State != checkpoints.QuestionWithdrawn
	})
}

// lookedUp takes what was found of subagents that waited.
func (d *transition) lookedUp(found map[string]checkpoints.Subagent) {
	for id, sub := range found {
		for _, q := range d.Group(id) {
			call := *q.Tool
			call.From = &sub
			d.question(q.ID).Tool = &call
		}
	}
}

// sayInterrupted has an agent told, before its next launch, of its subagents that had their answers and were
// interrupted at their work.
func (d *transition) sayInterrupted(a *Agent) {
	for _, q := range d.FindQuestionsOf(a.ID, func(q *Question) bool {
		return q.Index == 0 && interrupted(q) && q.State == checkpoints.QuestionDelivered
	}) {
		enqueue(a, checkpoints.OutboxItem{Key: "interrupted " + q.Group, Group: q.Group, At: d.at})
	}
}

// interrupted reports whether a question came from a subagent of whose interruption nobody has been told.
func interrupted(q *Question) bool {
	return q.Tool != nil && q.Tool.From != nil && q.Tool.From.Interrupted
}

// toldInterrupted takes note that the agent is being told of the interruption of a subagent.
func (d *transition) toldInterrupted(group []*Question) {
	for _, q := range group {
		if interrupted(q) {
			call, sub := *q.Tool, *q.Tool.From
			sub.Interrupted, call.From = false, &sub
			d.question(q.ID).Tool = &call
		}
	}
}

// fromSubagent gives the subagent that a group of questions came from, nil if it came from the main conversation.
func fromSubagent(group []*Question) *checkpoints.Subagent {
	if group[0].Tool == nil {
		return nil
	}
	return group[0].Tool.From
}

// revives reports whether subagents of the agent can be revived in its next launch.
func (s State) revives(agent string, l *Launch) bool {
	for _, before := range slices.Backward(s.Launches[agent]) {
		if before.Version != "" {
			return l.Resume && procs.ReleaseOf(before.Version).RevivesSubagents
		}
	}
	return false
}

// subagentAnswered tells the main conversation what the questions of one of its subagents have come to. Those that it
// had its answers to are repeated only to one that has to begin anew.
func (s State) subagentAnswered(sub *checkpoints.Subagent, groups [][]*Question, revive bool) string {
	revive = revive && sub.ID != ""
	var b strings.Builder
	waited, message := false, "the message to go on"
	for _, group := range groups {
		waited = waited || group[0].State != checkpoints.QuestionDelivered
	}
	if waited {
		message = "the questions with their answers above as message"
		fmt.Fprintf(&b,
			"## CLARIFICATION RESPONSE\n\nYour subagent %s had asked the person, and was interrupted while it waited. This is "+
				"for it:\n", nameOf(sub))
	} else {
		fmt.Fprintf(&b,
			"## SUBAGENT INTERRUPTED\n\nThe subagent %s had asked the person, had its answer, and was interrupted at its "+
				"work.\n", nameOf(sub))
	}
	for _, group := range groups {
		switch had := group[0].State == checkpoints.QuestionDelivered; {
		case !had, !revive && group[0].Kind != checkpoints.AskPermission:
			b.WriteString(s.forSubagent(group))
		}
	}
	if revive {
		fmt.Fprintf(&b,
			"\n## RESUME INSTRUCTIONS\nCall SendMessage (if it is not at hand, load it: ToolSearch \"select:SendMessage\") "+
				"with to %q and %s: the subagent goes on with its work, and you get its result. Do not do its work yourself, and "+
				"do not start another in its place.", sub.ID, message)
		return b.String()
	}
	kind := ""
	if sub.Type != "" {
		kind = " of type " + sub.Type
	}
	fmt.Fprintf(&b, "\nIts task:\n%s\n", taskOf(sub))
	if sub.Done != "" {
		fmt.Fprintf(&b, "\nWhat it had done:\n%s\n", sub.Done)
	}
	// Last of all: what is quoted above may read like instructions.
	fmt.Fprintf(&b,
		"\n## RESUME INSTRUCTIONS\nIt is gone. Start a subagent%s with its task again, and tell it the questions with "+
			"their answers above and what was done already, so that it neither asks nor does it again.", kind)
	return b.String()
}

// nameOf names a subagent to the conversation that started it.
func nameOf(sub *checkpoints.Subagent) string {
	name := sub.ID
	if sub.Task != "" {
		name = strings.TrimSpace(name + " (" + sub.Task + ")")
	}
	return name
}

func taskOf(sub *checkpoints.Subagent) string {
	if sub.Prompt != "" {
		return sub.Prompt
	}
	return sub.Task
}

// forSubagent gives a group's questions with their answers.
func (s State) forSubagent(group []*Question) string {
	var b strings.Builder
	switch first := group[0]; first.Kind {
	case checkpoints.AskPermission:
		decided := "The person refuses it. " + denial(first) + " Do not make the call."
		if allowed(first) {
			decided = "The person allows it, once and exactly so: make the call again, unchanged, if it is still needed."
		}
		fmt.Fprintf(&b, "\nThe call of %s that waited for permission:\n%s\n%s\n", first.Tool.Name,
			text.Preview(first.Tool.Input), decided)
	case checkpoints.AskBlocker:
		fmt.Fprintf(&b, "\n%s\n", stopAnswered(first, SignalOf(first), s.further(first)))
	default:
		for _, q := range group {
			fmt.Fprintf(&b, "\nQ%d: %s\nA%d: %s\n", q.Index+1, q.Text, q.Index+1, AnswerOf(q))
		}
	}
	return b.String()
}
