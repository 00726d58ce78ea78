package prompts

import (
	"fmt"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// PlanDecided is what an agent reads of the answer to its plan that came when its call was gone. moved: as in
// PermissionDecided.
func PlanDecided(q *Question, moved bool) string {
	return fmt.Sprintf("## CLARIFICATION RESPONSE\n\nYour call of %s was interrupted while your plan waited for the "+
		"person:\n\n%s\n\n", q.Tool.Name, text.Preview(q.Tool.Input)) + planVerdict(q, moved)
}

func planVerdict(q *Question, moved bool) string {
	switch {
	case moved:
		return "You have been moved since, and nobody has approved it here.\n\n## RESUME INSTRUCTIONS\nMake the call again " +
			"if the plan still fits; the person is asked."
	case questions.Allowed(q) && q.GrantSpent:
		return "The person approves the plan, and the call was let through, or your work was interrupted then.\n\n## " +
			"RESUME INSTRUCTIONS\nContinue to carry it out. If you are still in plan mode, make the call again."
	case questions.Allowed(q):
		return "The person approves the plan, exactly so.\n\n## RESUME INSTRUCTIONS\nMake the call again, with the plan " +
			"unchanged: it is let through and ends plan mode. If you are in plan mode no more, do not make it. Then carry the " +
			"plan out."
	}
	return PlanChanged(q) + "\n\n## RESUME INSTRUCTIONS\nYou are in plan mode as before."
}

// PlanChanged is what an agent reads of a plan that is not approved.
func PlanChanged(q *Question) string {
	if changes := questions.Changes(q); changes != "" && !q.Skipped && !q.Declined {
		return "The person does not approve the plan. What they want changed:\n" + changes + "\n\nChange the plan in its " +
			"file, and make the call again."
	}
	return "The person does not approve the plan, and does not say what is to be changed. Ask, or write another plan, " +
		"and make the call again."
}
