package prompts

import (
	"fmt"
	"strings"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// PermissionDecided is what an agent reads of a decision that came when its call was gone. moved: the agent was moved
// since, and the decision counts no more.
func PermissionDecided(q *Question, moved bool) string {
	var b strings.Builder
	// What the person was shown may hold what the agent may not read: the file that it was about to replace.
	was, again := "interrupted while it waited for permission", "unchanged; it will be let through"
	if questions.KindOf(q.Kind).Refused {
		was, again = "refused without a question, and the person was asked about it", "unchanged; it will be let through once"
	}
	fmt.Fprintf(&b, "## CLARIFICATION RESPONSE\n\nYour call of %s was %s:\n\n%s\n\n", q.Tool.Name, was,
		text.Preview(q.Tool.Input))
	if moved {
		b.WriteString(
			"You have been moved since, and nobody has decided it here.\n\n## RESUME INSTRUCTIONS\nMake the call again if it " +
				"is still needed; the person is asked.")
		return b.String()
	}
	if questions.Allowed(q) && q.GrantSpent {
		b.WriteString("The person had allowed it, once; it was let through, or your work was interrupted then.\n\n## " +
			"RESUME INSTRUCTIONS\nLook whether it took effect. Make it again only if it did not: the person is asked anew.")
		return b.String()
	}
	if questions.Allowed(q) {
		b.WriteString(
			"The person allows it, once and exactly so.\n\n## RESUME INSTRUCTIONS\nMake the call again if it is still needed, " +
				again + ".")
		return b.String()
	}
	fmt.Fprintf(&b,
		"The person refuses it. %s\n\n## RESUME INSTRUCTIONS\nDo not make this call. Continue without it, or ask.", Denial(q))
	return b.String()
}

// Denial returns the reason of a refused permission.
func Denial(q *Question) string {
	if _, why := questions.Decision(q.Answer); why != "" {
		return "Reason: " + why
	}
	return "No reason was given."
}

// PermissionWithin tells the main conversation of a permission that a subagent had asked for.
func PermissionWithin(q *Question) string {
	decided := "The person refuses it. " + Denial(q) + " Do not make the call."
	if questions.Allowed(q) {
		decided = "The person allows it, once and exactly so: make the call again, unchanged, if it is still needed."
	}
	return fmt.Sprintf("The call of %s that waited for permission:\n%s\n%s", q.Tool.Name, text.Preview(q.Tool.Input),
		decided)
}

// PermissionsDenied is what a call reads that needs permission, under --permissions deny.
const PermissionsDenied = "In this run nobody is asked for permission: what needs it is denied. Do it in a way that " +
	"needs none, or name under issues_encountered what could not be done."

// ChangedSince is what a call reads that was allowed, and would not do any more what the person was shown.
const ChangedSince = "Not done: the person allowed this call, but the file has changed since it was shown to them, " +
	"so it would do something else now. Read the file, and make the call again if it still fits: the person is asked " +
	"again."

// ServerAnswered tells the agent of the answer to an MCP server that came when its call was gone: as the protocol names
// it, "" for one that was taken back.
func ServerAnswered(server, action string) string {
	return fmt.Sprintf("## CLARIFICATION RESPONSE\n\nYour call of a tool of the MCP server %s was interrupted while the "+
		"server waited for the person.\n%s", server, serverOutcome(action))
}

// ServerAnsweredWithin tells the main conversation of one to a server that a subagent had called.
func ServerAnsweredWithin(server, action string) string {
	return fmt.Sprintf("The MCP server %s had asked the person in a call.\n%s", server, serverOutcome(action))
}

func serverOutcome(action string) string {
	switch action {
	case "":
		return "You have been moved since, and nobody has decided it here.\n\n## RESUME INSTRUCTIONS\nMake the call again " +
			"if it is still needed; the person is asked."
	case "decline":
		return "The person declines to answer the server.\n\n## RESUME INSTRUCTIONS\nDo not make this call again. Continue " +
			"without it, or end with a report."
	case "cancel":
		return "The person cancels what the server asks.\n\n## RESUME INSTRUCTIONS\nDo not make this call again. Continue " +
			"without it, or end with a report."
	}
	return "The person has answered. The answer is for the server: you do not get it.\n\n## RESUME INSTRUCTIONS\nMake " +
		"the call again, unchanged; when the server asks the same, it gets the answer."
}

// RefusedSchedule is what the agent reads of a schedule that would outlive it.
const RefusedSchedule = "A durable schedule starts prompts in later sessions of the person, who was not asked: it is " +
	"refused in a supervised run. Without durable it lasts as long as this session. For what is to be done later, ask " +
	"the person, or say it in your report."

// RefusedList is what the agent reads of a call that lists agents.
const RefusedList = "The list names other sessions of the person, which are no part of this run: it is refused. " +
	"Agents that you have started you know by the ids that you were given then."

// LastOutput is what check_work tells, beside what the records do, of a child that is at work. It is set off, so that
// no line of it passes for a word of ours.
func LastOutput(said string) string {
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	return "\n\nIts last output:\n" + text.Indented(said)
}

// RefusedMessage is what the agent reads of a message to somebody who is not known to be an agent of its own.
func RefusedMessage(to string) string {
	return text.Line(to, text.MaxNamed) + " is not known to be an agent of yours: it may be another session of the " +
		"person, and this run sends no messages to those. Write to an agent of yours by its id. What another session " +
		"ought to know, say in your report."
}
