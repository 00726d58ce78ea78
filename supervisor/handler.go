package supervisor

import (
	"encoding/json"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// A handler is what the core has for the questions of one kind, beside its row in package questions: how an agent asks
// them, what it is told of their answers, and what these do. What it lacks is as of a clarification. Each is registered
// in the file of its kind.
type handler struct {
	signal signals.Kind                                // the kind of signal that asks,
	asked  func(sig signals.Signal) []signals.Question // and its questions; nil: no signal asks any

	prompt func(s State, group []*Question) string                         // the answers, in a prompt of their own
	within func(group []*Question) string                                  // in one about a subagent; nil: prompt
	reply  func(call *checkpoints.ToolCall, group []*Question) Reply       // as the result of a call of the CLI's
	work   func(s State, q *Question) (w Work, start bool)                 // what an answer has another agent do
	refuse func(d *transition, q *Question)                                // under --on-question fail; nil: it fails
	anew   func(d *transition, q *Question, seen map[string]SeenCall) bool // as showAnew; not: it cannot be asked
}

var handlers = map[checkpoints.QuestionKind]handler{}

// A Reply is the body that answers a call in its own turn, as the CLI takes it.
type Reply struct {
	Behavior     string          `json:"behavior,omitempty"` // allow, deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`

	Action  string          `json:"action,omitempty"` // of an elicitation: accept, decline, cancel
	Content json.RawMessage `json:"content,omitempty"`
}

// A SeenCall is what a person is shown of a call, as it looks here.
type SeenCall struct {
	signals.Question
	Rule string
}

// delegated returns the work that an answered question starts: an approved delegation, or the blocked part of a stop.
func (s State) delegated(q *Question) (w Work, start bool) {
	if work := handlers[q.Kind].work; work != nil {
		return work(s, q)
	}
	return w, false
}
