package supervisor

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
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
	Budget          Budget `json:",omitzero"` // of it and all below it, in what those above leave
}

// A Child is work with the id of the agent that does it. Parent is "" for a child of the root.
type Child struct {
	Agent, Parent string
	Work
}

// The priorities, the first of which goes first.
var priorities = []string{"P0", "P1", "P2"}

const defaultPriority = "P1"

// workAsked reads a delegation. What it says in words of its own is taken for the usual: who asks reads which.
func workAsked(sig signals.Signal) Work {
	field := func(name string) string { return strings.TrimSpace(sig.Field(name)) }
	w := Work{
		Task: field("new_task_description"), Priority: strings.ToUpper(field("priority")), Resume: field("resume"),
		Fork: field("fork_context") == "true",
		Said: checkpoints.Delegated{
			Independence: checkpoints.Independence(strings.ToLower(field("independence"))), Reason: field("delegation_reason"),
			Context: field("context_required"), Coordination: field("coordination"),
			Estimated: text.FirstLine(field("estimated_duration")),
			Type:      handedName(field("subagent_type")), Model: handedName(field("model")),
		},
	}
	if n, err := strconv.Atoi(field("max_turns")); err == nil && n > 0 {
		w.Said.MaxTurns = n
	}
	return w.Usual()
}

// handedName returns a name that is handed on to claude as an argument; "" for what is none.
func handedName(name string) string {
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
	if rank(w.Priority) < 0 {
		w.Priority = defaultPriority
	}
	w.Said.Name = text.OneLine(w.Said.Name)
	return w
}

// rank returns the place of a priority, from 0; -1 for what is none.
func rank(priority string) int {
	for i, p := range priorities {
		if p == priority {
			return i
		}
	}
	return -1
}

// prompt is the task as the child reads it, with what its parent said beside it.
func (w Work) prompt() string {
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

// spawn makes the agent that does a child's work. It is launched when it may begin and a slot is free.
func (d *transition) spawn(c Child) {
	c.Work = c.Usual()
	parent := d.Agents[c.Parent]
	said := c.Said
	a := &Agent{
		ID: c.Agent, Run: d.Run.ID, Parent: parent.ID, Depth: parent.Depth + 1, Task: c.prompt(),
		Status: checkpoints.Queued, Reason: "not yet started", Since: d.at, Priority: c.Priority, Delegated: &said,
		SuccessCriteria: c.SuccessCriteria, Deliverables: c.Deliverables,
		Bounds: checkpoints.Bounds{Budget: bounding(c.Budget)},
		Pace:   checkpoints.Pace{Estimate: parseEstimate(said.Estimated)},
	}
	a.SessionID = sessionOf(a)
	if c.Cwd != "" && text.Under(c.Cwd, d.Folder(parent.ID)) {
		a.Cwd = filepath.Clean(c.Cwd)
	}
	switch before := d.Agents[c.Resume]; {
	case before != nil:
		if d.Begun(before.ID) {
			a.From = before.SessionID
		}
		d.agent(before.ID).ContinuedBy = a.ID
		d.touch(before.Parent)
	case c.Fork && d.Begun(parent.ID):
		a.From = parent.SessionID
	}
	d.addAgent(a)
}

// AsChild puts what was said of an agent's process by whoever delegated its work into a launch.
func (s State) AsChild(spec *procs.Spec, a *Agent) {
	if a.From != "" && !s.Begun(a.ID) {
		spec.Fork = a.From
	}
	said := a.Delegated
	if said == nil {
		return
	}
	spec.AgentType = said.Type
	if said.Model != "" {
		spec.Flags = append(slices.Clip(spec.Flags), "--model="+said.Model)
	}
}

// Begun reports whether an agent has had a conversation.
func (s State) Begun(agent string) bool {
	for _, l := range s.Launches[agent] {
		if l.Begun {
			return true
		}
	}
	return false
}

// A Nesting is what a run inside an agent asks for: the document of its note.
type Nesting struct {
	Agent  string // the id that the new agent gets
	Launch int    // of the agent that calls
	Waits  bool   // a client stays until the end
	Work   Work
}

// nestingOf returns what the question of a nested run is about; false for any other.
func nestingOf(q *Question) (Nesting, bool) {
	var nest Nesting
	return nest, q.Nested != nil && json.Unmarshal(q.Nested.Work, &nest) == nil
}

// WorkIn returns the work that a delegation is about, by a signal, a call or a run inside the agent.
func WorkIn(q *Question) Work {
	if nest, ok := nestingOf(q); ok {
		nest.Work.Said.Nested = &checkpoints.Nested{Clients: q.Nested.Clients}
		return nest.Work
	}
	return workAsked(SignalOf(q))
}

func approvedWork(_ State, q *Question) (w Work, approved bool) {
	w = WorkIn(q)
	w.Said.Fingerprint = q.Fingerprint
	task, approved := questions.Approved(q)
	if task != "" {
		w.Task = task
	}
	return w, approved
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
