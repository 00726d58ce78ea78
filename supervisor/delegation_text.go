package supervisor

import (
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
)

// This file is what the person and the agents read of a delegation. The headings are those of the protocols document
// (002, Protocol 4); how the end of a child is told follows what a subagent's result tells (004).

func init() {
	handlers[questions.AskDelegation] = handler{
		signal: signals.Delegate,
		asked: func(sig signals.Signal) []signals.Question {
			return []signals.Question{ask.Delegation(task.Asked(sig))}
		},
		prompt: func(s State, group []*Question) string {
			w := ask.WorkIn(group[0])
			return prompts.DelegationDecided(group[0], w.Task, w.Priority, w.Said, s.program())
		},
		work: approvedWork,
		anew: func(_ *transition, q *Question, _ map[string]ask.SeenCall) bool {
			if q.Nested == nil && len(q.Signal) == 0 {
				return false
			}
			ask.Reshow(q, ask.Delegation(ask.WorkIn(q)))
			return true
		},
	}
}

// MaxAgentTypes bounds how many types of agents are remembered of a process.
const MaxAgentTypes = 200
