package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what an agent is told of a permission, and how that is shown to a person again.

func init() {
	handlers[questions.AskPermission] = handler{
		prompt: func(_ State, group []*Question) string { return permissionDecided(group[0]) },
		within: permissionWithin,
		reply: func(call *checkpoints.ToolCall, group []*Question) Reply {
			if questions.Allowed(group[0]) {
				return Reply{Behavior: Allow, UpdatedInput: call.Input}
			}
			return Reply{Behavior: Deny, Message: "The person refuses this. " + denial(group[0])}
		},
		anew: func(_ *transition, q *Question, seen map[string]SeenCall) bool {
			now, ok := seen[q.ID]
			if ok {
				reshow(q, now.Question)
				q.Rule, q.Fingerprint = now.Rule, FingerprintOf(*q.Tool)
			}
			return ok
		},
	}
}

func permissionDecided(q *Question) string {
	var b strings.Builder
	// What the person was shown may hold what the agent may not read: the file that it was about to replace.
	fmt.Fprintf(&b,
		"## CLARIFICATION RESPONSE\n\nYour call of %s was interrupted while it waited for permission:\n\n%s\n\n", q.Tool.Name,
		text.Preview(q.Tool.Input))
	if q.Revoked == unpackedBy {
		b.WriteString(
			"You have been moved since, and nobody has decided it here.\n\n## RESUME INSTRUCTIONS\nMake the call again if it " +
				"is still needed; the person is asked.")
		return b.String()
	}
	if questions.Allowed(q) {
		b.WriteString(
			"The person allows it, once and exactly so.\n\n## RESUME INSTRUCTIONS\nMake the call again if it is still needed, " +
				"unchanged; it will be let through.")
		return b.String()
	}
	fmt.Fprintf(&b,
		"The person refuses it. %s\n\n## RESUME INSTRUCTIONS\nDo not make this call. Continue without it, or ask.", denial(q))
	return b.String()
}

// denial gives the reason of a refused permission.
func denial(q *Question) string {
	if _, why := questions.Decision(q.Answer); why != "" {
		return "Reason: " + why
	}
	return "No reason was given."
}

// permissionWithin tells the main conversation of a permission that a subagent had asked for.
func permissionWithin(group []*Question) string {
	q := group[0]
	decided := "The person refuses it. " + denial(q) + " Do not make the call."
	if questions.Allowed(q) {
		decided = "The person allows it, once and exactly so: make the call again, unchanged, if it is still needed."
	}
	return fmt.Sprintf("The call of %s that waited for permission:\n%s\n%s", q.Tool.Name, text.Preview(q.Tool.Input),
		decided)
}

// permissionsDenied is what a call reads that needs permission, under --permissions deny.
const permissionsDenied = "In this run nobody is asked for permission: what needs it is denied. Do it in a way that " +
	"needs none, or name under issues_encountered what could not be done."

// ChangedSince is what a call reads that was allowed, and would not do any more what the person was shown.
const ChangedSince = "Not done: the person allowed this call, but the file has changed since it was shown to them, " +
	"so it would do something else now. Read the file, and make the call again if it still fits: the person is asked " +
	"again."
