package ask

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// Delegation puts a delegation to the person, with the document's list of what to look at.
func Delegation(w task.Work) signals.Question {
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
			{Label: questions.Approve,
				Description: "start it; add another task to change it, e.g. approve Refactor only src/auth"},
			{Label: questions.Deny,
				Description: "add why, and what to do instead, e.g. deny too early instead: list it in the report"},
		},
	}
}

// lacking names what the task of a delegation does not say; "" if that is nothing.
func lacking(w task.Work) string {
	var parts []string
	for _, g := range task.CheckTask(w.Task, task.Brief{Context: w.Said.Context, SuccessCriteria: w.SuccessCriteria,
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

// EntryNested is the note of a run that is started inside an agent.
const EntryNested = "nested"

// Fingerprint is the same for the same run started again.
func (n Nesting) Fingerprint() string {
	return fmt.Sprintf("nested %x", sha256.Sum256(text.JSON(n.Work)))
}

// NestingIn reads a note. One that no client of ours can have left is not ok.
func NestingIn(n checkpoints.InboxEntry) (Nesting, bool) {
	var nest Nesting
	if n.Kind != EntryNested || json.Unmarshal(n.Doc, &nest) != nil {
		return Nesting{}, false
	}
	ok := strings.HasPrefix(nest.Agent, checkpoints.AgentPrefix) && checkpoints.PlainID(nest.Agent) &&
		nest.Work.Resume == "" && !nest.Work.Fork && nest.Work.Budget == (checkpoints.Budget{}) &&
		saysNoMore(nest.Work.Said) &&
		len(n.Doc) <= MaxNesting
	nest.Work = nest.Work.Usual()
	return nest, ok
}

// saysNoMore reports whether beside a task no more is said than a run inside an agent can say: what follows from the
// rest is for a task file, and for the supervisor itself.
func saysNoMore(said checkpoints.Delegated) bool {
	known := checkpoints.Delegated{
		Name: said.Name, Independence: said.Independence, Reason: said.Reason, Model: said.Model, MaxTurns: said.MaxTurns,
	}
	return bytes.Equal(text.JSON(said), text.JSON(known)) && (said.Model == "" || task.CheckModel(said.Model) == nil)
}

// MaxNestedTask bounds the task of a run inside an agent, in bytes: it is kept in the run's records.
const MaxNestedTask = 256 << 10

// MaxNesting bounds the document of a note, in bytes: escapes and all, a task of MaxNestedTask fits.
const MaxNesting = 8 * MaxNestedTask

// A Nesting is what a run inside an agent asks for: the document of its note.
type Nesting struct {
	Agent  string // the id that the new agent gets
	Launch int    // of the agent that calls
	Waits  bool   // a client stays until the end
	Work   task.Work
}

// nestingOf returns what the question of a nested run is about; false for any other.
func nestingOf(q *checkpoints.Question) (Nesting, bool) {
	var nest Nesting
	return nest, q.Nested != nil && json.Unmarshal(q.Nested.Work, &nest) == nil
}

// WorkIn returns the work that a delegation is about, by a signal, a call or a run inside the agent.
func WorkIn(q *checkpoints.Question) task.Work {
	if nest, ok := nestingOf(q); ok {
		nest.Work.Said.Nested = &checkpoints.Nested{Clients: q.Nested.Clients}
		return nest.Work
	}
	return task.Asked(SignalOf(q))
}
