package task

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

// A Task is what `run` was asked to do.
type Task struct {
	Run               string // its id, from NewRun; "" makes one
	Prompt, Name, Cwd string
	Brief             Brief
	Config            conf.Config
	Estimated         string // how long it takes, as written; "" if nobody says
	From              string // the session with whose conversation it begins; see Continuation
	Fork              *Fork  // nil: it does not go on from a question of another run. Its Prompt is whole, then

	// What the task itself states of work for other agents, each after the one that it stands below. The root begins once
	// all of it has ended, and reads how. A Group has no root with a conversation: Prompt says to people what the tasks
	// are.
	Children []Child
	Group    bool
}

// A Brief is what a task says beside its prompt, in the parts that the protocols document (002, "Parent Agent
// Workflow") wants a task to have. The zero value says nothing.
type Brief struct {
	Context         string
	Goals           []string
	SuccessCriteria []string // kept with the agent, and set beside the metrics of its report
	Deliverables    []string // kept with the agent; what of them is no prose is looked for on disk
}

// Compose returns the one text that the agent reads as its task: the prompt, then the parts that are not empty, each
// under its heading.
func (b Brief) Compose(prompt string) string {
	var text strings.Builder
	text.WriteString(strings.TrimRight(prompt, "\n"))
	if c := strings.TrimSpace(b.Context); c != "" {
		text.WriteString("\n\n## CONTEXT\n\n" + c)
	}
	list := func(heading, rule string, items []string) {
		if len(items) == 0 {
			return
		}
		text.WriteString("\n\n## " + heading + "\n")
		if rule != "" {
			text.WriteString("\n" + rule + "\n")
		}
		for _, item := range items {
			text.WriteString("\n- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  "))
		}
	}
	list("GOALS", "", b.Goals)
	list("SUCCESS CRITERIA", "Your report says of each, under metrics_achieved and in these words, how it was met.",
		b.SuccessCriteria)
	list("DELIVERABLES", "They are looked for on disk when you report.", b.Deliverables)
	return text.String()
}

// CheckAgentType tells why name cannot be handed on to claude as that of a kind of agent. Whether there is such a kind,
// claude knows.
func CheckAgentType(name string) error {
	if !modelName().MatchString(name) {
		return fmt.Errorf("takes the name of a kind of agent, such as code-reviewer, not %q", name)
	}
	return nil
}

// Due returns what a check looks for on disk: when an agent is done what its task names, then what its report does,
// each once; or what the report of a subagent does.
func Due(a *checkpoints.Agent, part int) []Deliverable {
	r, named := a.Report, a.Deliverables
	if part > 0 {
		r, named = nil, nil
		if p := PartAt(a, part); p != nil {
			r = &p.Report
		}
	}
	if r == nil {
		return nil
	}
	reported := signals.Signal{Fields: []signals.Field{{Name: "deliverables", Value: r.Deliverables}}}
	var once []Deliverable
	for _, d := range Deliverables(slices.Concat(named, reported.List("deliverables"))) {
		if !slices.ContainsFunc(once, func(o Deliverable) bool { return path.Clean(o.Path) == path.Clean(d.Path) }) {
			once = append(once, d)
		}
	}
	return once
}
