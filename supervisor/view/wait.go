package view

import (
	"context"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/records"
)

// A Node is a run or one of the agents below its root, to be waited for.
type Node struct {
	Run   string
	Agent string // "": the run
}

// An Awaited is how a node was when it had ended, or nobody supervised its run any more; or when it asked, if that was
// waited for.
type Awaited struct {
	Node
	View RunView
}

// AwaitedAs is an agent of a run that was left, or the run where it is its first.
func AwaitedAs(v RunView, agent string) Awaited {
	a := Awaited{Node: Node{Run: v.ID, Agent: agent}, View: v}
	if len(v.Agents) > 0 && v.Agents[0].ID == agent {
		a.Agent = ""
	}
	return a
}

// AwaitEach blocks until each node has ended, or nobody supervises its run, and gives each then, once, with the run as
// it is. It waits for as long as that takes, or until ctx ends: the error is then the cause of that. It looks at all of
// them at least once, whatever ctx says. asks is given a node that goes on while a question of it is open, as often as
// that is looked at; it does not block. *checkpoints.UnknownError if there is no such run.
func (r Reader) AwaitEach(ctx context.Context, nodes []Node, each func(Awaited) error, asks func(Awaited)) error {
	return r.awaitEach(ctx, nodes, func(a Awaited) bool {
		if a.goesOn() && len(a.Open()) > 0 {
			asks(a)
		}
		return a.goesOn()
	}, each)
}

// AwaitQuestion is AwaitEach, but a node is given as soon as a question of it is open, too.
func (r Reader) AwaitQuestion(ctx context.Context, nodes []Node, each func(Awaited) error) error {
	return r.awaitEach(ctx, nodes, func(a Awaited) bool { return a.goesOn() && len(a.Open()) == 0 }, each)
}

func (r Reader) awaitEach(ctx context.Context, nodes []Node,
	goesOn func(Awaited) bool, each func(Awaited) error) error {
	pending := slices.Clone(nodes)
	return r.follow(ctx, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		runs := map[string]RunView{} // those that something is waited for in
		var left []Node
		for _, n := range pending {
			v, seen := runs[n.Run]
			if !seen {
				var err error
				if v, err = now.Run(ctx, n.Run); err != nil {
					return nil, false, err
				}
				runs[n.Run] = v
			}
			if a := (Awaited{Node: n, View: v}); goesOn(a) {
				left = append(left, n)
			} else if err := each(a); err != nil {
				return nil, false, err
			}
		}
		pending = left
		var going []RunView
		for _, n := range left {
			if v, is := runs[n.Run]; is {
				going = append(going, v)
				delete(runs, n.Run)
			}
		}
		return going, len(left) > 0, nil
	})
}

// goesOn reports whether something can still happen to the node by itself.
func (a Awaited) goesOn() bool {
	agent, is := a.View.Agent(a.Agent)
	return a.View.GoesOn() && !(is && agent.ExitCode != nil)
}

// Open returns the ids of the questions that are open: of a run, of all its agents.
func (a Awaited) Open() []string {
	if agent, is := a.View.Agent(a.Agent); is {
		return agent.OpenQuestions
	}
	return a.View.OpenQuestions
}

// Code is what `wait` exits with for the node: the code of its own end, else what is said of a run that was left.
func (a Awaited) Code() int {
	if agent, is := a.View.Agent(a.Agent); is {
		switch {
		case agent.ExitCode != nil:
			return *agent.ExitCode
		case agent.Status == checkpoints.Parked:
			return exit.Parked
		case agent.Status == checkpoints.OverBudget:
			return exit.Budget
		}
	}
	return a.View.code()
}

// GoesOn reports whether something can still happen to the run by itself: somebody supervises it. One that has ended
// goes on for as long as its supervisor has something to tell.
func (v RunView) GoesOn() bool { return v.SupervisorPID != 0 }

// code is what `wait` exits with for a run that does not go on: its own code if it has ended, else what the supervisor
// that left it would say.
func (v RunView) code() int {
	switch {
	case v.EndedAt != nil && v.ExitCode != nil:
		return *v.ExitCode
	case v.Status == checkpoints.Parked, v.left == records.LeavingParked:
		if slices.ContainsFunc(v.Agents, func(a AgentView) bool { return a.Status == checkpoints.OverBudget }) {
			return exit.Budget
		}
		return exit.Parked
	}
	return exit.Interrupted
}

// WorseCode returns the worse of two exit codes of runs.
func WorseCode(a, b int) int {
	for _, code := range exit.ByWorst {
		if a == code || b == code {
			return code
		}
	}
	return max(a, b)
}

// Awaitable returns the nodes that ids or their starts name, each once: the root of a run stands for the run.
func (r Reader) Awaitable(ctx context.Context, ids []string) ([]Node, error) {
	var nodes []Node
	for _, id := range ids {
		n, err := r.node(ctx, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// node returns the node that an id or its start names.
func (r Reader) node(ctx context.Context, id string) (Node, error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	if err != nil || agent == "" {
		return Node{Run: run}, err
	}
	record, err := r.Store.Run(ctx, run)
	if agent == record.Root {
		agent = ""
	}
	return Node{Run: run, Agent: agent}, err
}

// Above returns the nodes that cannot end before an agent has: itself, those that it was started by, and its run.
func (r Reader) Above(ctx context.Context, agent string) ([]Node, error) {
	run, id, err := RunNamed(ctx, r.Store, agent)
	if err != nil {
		return nil, err
	}
	agents, err := r.Store.Agents(ctx, run)
	if err != nil {
		return nil, err
	}
	parents := map[string]string{}
	for _, a := range agents {
		parents[a.ID] = a.Parent
	}
	above := []Node{{Run: run}}
	for range agents { // which may be in a circle, in a database that somebody has changed
		if id == "" {
			break
		}
		above = append(above, Node{Run: run, Agent: id})
		id = parents[id]
	}
	return above, nil
}
