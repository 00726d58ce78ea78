package task

import (
	"fmt"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

// Work is a task for a child, whoever gives it: an agent that delegates, a task file, or a run inside an agent. The
// zero Independence is checkpoints.Parallel, the zero Priority P1.
type Work struct {
	Task            string
	Priority        string                // P0, P1 or P2
	Said            checkpoints.Delegated // what was said beside the task
	Fork            bool                  // it begins with its parent's conversation
	Resume          string                // the ended agent whose conversation it continues
	Cwd             string                // where it is done, absolute and in its parent's folder; "": there
	SuccessCriteria []string
	Deliverables    []string
	Budget          conf.Budget `json:",omitzero"` // of it and all below it, in what those above leave
}

// A Child is work with the id of the agent that does it. Parent is "" for a child of the root.
type Child struct {
	Agent, Parent string
	Work
}

// The priorities, the first of which goes first.
var priorities = []string{"P0", "P1", "P2"}

const defaultPriority = "P1"

// Asked reads a delegation. What it says in words of its own is taken for the usual: who asks reads which.
func Asked(sig signals.Signal) Work {
	field := func(name string) string { return strings.TrimSpace(sig.Field(name)) }
	w := Work{
		Task: field("new_task_description"), Priority: strings.ToUpper(field("priority")), Resume: field("resume"),
		Fork: field("fork_context") == "true",
		Said: checkpoints.Delegated{
			Independence: checkpoints.Independence(strings.ToLower(field("independence"))), Reason: field("delegation_reason"),
			Context: field("context_required"), Coordination: field("coordination"),
			Estimated: text.FirstLine(field("estimated_duration")),
			Type:      HandedName(field("subagent_type")), Model: HandedName(field("model")),
		},
	}
	if n, err := strconv.Atoi(field("max_turns")); err == nil && n > 0 {
		w.Said.MaxTurns = n
	}
	return w.Usual()
}

// HandedName returns a name that is handed on to claude as an argument; "" for what is none.
func HandedName(name string) string {
	if CheckModel(name) != nil {
		return ""
	}
	return name
}

// Usual puts what is usual in the place of what is not said or not known.
func (w Work) Usual() Work {
	switch w.Said.Independence {
	case checkpoints.Parallel, checkpoints.Blocks, checkpoints.Optional:
	default:
		w.Said.Independence = checkpoints.Parallel
	}
	if Rank(w.Priority) < 0 {
		w.Priority = defaultPriority
	}
	w.Said.Name = text.OneLine(w.Said.Name)
	return w
}

// Rank returns the place of a priority, from 0; -1 for what is none.
func Rank(priority string) int {
	for i, p := range priorities {
		if p == priority {
			return i
		}
	}
	return -1
}

// Prompt is the task as the child reads it, with what its parent said beside it.
func (w Work) Prompt() string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(w.Task, "\n"))
	part := func(heading, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n\n## %s\n\n%s", heading, text)
		}
	}
	part("CONTEXT", w.Said.Context)
	part("COORDINATION", w.Said.Coordination)
	return b.String()
}

// CheckModel tells why name cannot be handed on to claude as that of a model. Whether there is such a model, claude
// knows.
func CheckModel(name string) error {
	if !modelName().MatchString(name) {
		return fmt.Errorf("takes the name of a model, such as opus, not %q", name)
	}
	return nil
}

var modelName = text.Lazily(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*$`)
