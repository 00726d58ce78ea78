package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/task"
)

// A handler is what the core has for the questions of one kind, beside its row in package questions: how an agent asks
// them, what it is told of their answers, and what these do. What it lacks is as of a clarification. Each is registered
// in the file of its kind.
type handler struct {
	signal signals.Kind                                // the kind of signal that asks,
	asked  func(sig signals.Signal) []signals.Question // and its questions; nil: no signal asks any

	prompt func(s State, group []*Question) string                             // the answers, in a prompt of their own
	within func(group []*Question) string                                      // in one about a subagent; nil: prompt
	reply  func(call *checkpoints.ToolCall, group []*Question) ask.Reply       // as the result of a call of the CLI's
	work   func(s State, q *Question) (w task.Work, start bool)                // what an answer has another agent do
	refuse func(d *transition, q *Question)                                    // under --on-question fail; nil: it fails
	anew   func(d *transition, q *Question, seen map[string]ask.SeenCall) bool // as showAnew; not: it cannot be asked
}

var handlers = map[checkpoints.QuestionKind]handler{}

// delegated returns the work that an answered question starts: an approved delegation, or the blocked part of a stop.
func (s State) delegated(q *Question) (w task.Work, start bool) {
	if work := handlers[q.Kind].work; work != nil {
		return work(s, q)
	}
	return w, false
}
