package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what the person and the agents read of a delegation. The headings are those of the protocols document
// (002, Protocol 4); how the end of a child is told follows what a subagent's result tells (004).

func init() {
	handlers[questions.AskDelegation] = handler{
		signal: signals.Delegate,
		asked: func(sig signals.Signal) []signals.Question {
			return []signals.Question{DelegationQuestion(workAsked(sig))}
		},
		prompt: func(s State, group []*Question) string {
			w := WorkIn(group[0])
			return prompts.DelegationDecided(group[0], w.Task, w.Priority, w.Said, s.program())
		},
		work: approvedWork,
		anew: func(_ *transition, q *Question, _ map[string]SeenCall) bool {
			if q.Nested == nil && len(q.Signal) == 0 {
				return false
			}
			reshow(q, DelegationQuestion(WorkIn(q)))
			return true
		},
	}
}

// DelegationQuestion puts a delegation to the person, with the document's list of what to look at.
func DelegationQuestion(w Work) signals.Question {
	var b strings.Builder
	fmt.Fprintf(&b, "Task:\n%s\n\n", text.Indented(w.Task))
	line := func(title, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", title, text.IndentedAfter(value))
		}
	}
	line("Why", w.Said.Reason)
	line("Independence", string(w.Said.Independence))
	line("Priority", w.Priority)
	line("Needs to know", w.Said.Context)
	line("Coordination", w.Said.Coordination)
	line("Estimated", w.Said.Estimated)
	line("Kind of agent", w.Said.Type)
	line("Model", w.Said.Model)
	if w.Said.MaxTurns > 0 {
		line("Turns", fmt.Sprint(w.Said.MaxTurns))
	}
	line("Continues", w.Resume)
	if w.Resume == "" && !w.Fork { // else a conversation says what the task does not
		line("It lacks", lacking(w))
	}
	if w.Fork {
		line("Begins with", "the conversation of the agent that asks")
	}
	b.WriteString(evaluation)
	return signals.Question{
		ID: "delegate", Header: "delegation",
		Text:    fmt.Sprintf("Start another agent for: %s?", strings.TrimSuffix(text.Line(w.Task, text.MaxNamed), ".")),
		Context: b.String(),
		Options: []signals.Option{
			{Label: Approve, Description: "start it; add another task to change it, e.g. approve Refactor only src/auth"},
			{Label: Deny, Description: "add why, and what to do instead, e.g. deny too early instead: list it in the report"},
		},
	}
}

// lacking names what the task of a delegation does not say; "" if that is nothing.
func lacking(w Work) string {
	var parts []string
	for _, g := range CheckTask(w.Task, Brief{Context: w.Said.Context, SuccessCriteria: w.SuccessCriteria,
		Deliverables: w.Deliverables}) {
		parts = append(parts, string(g.Part))
	}
	return strings.Join(parts, ", ")
}

// evaluation is 002, Protocol 4, "Parent agent evaluation checklist".
const evaluation = `
Before you approve:
- Is it justified, against the agent continuing by itself?
- Is the task well defined: context, goals, metrics?
- Is what it says of its independence so: parallel or blocking?
- Is the priority right?
- Is there time, computing power and a slot for it?`

// MaxAgentTypes bounds how many types of agents are remembered of a process.
const MaxAgentTypes = 200
