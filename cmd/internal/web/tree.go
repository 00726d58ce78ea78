package web

import (
	"cmp"
	"strings"

	"claude-supervise/supervisor/view"
)

// A shownRun is a run with its agents as a tree.
type shownRun struct {
	view.RunView
	Tree []shownAgent
	More int  // agents that are left out
	Left bool // resume goes on with it
}

// Solo is the id of the run's only agent; "" where it has more, or none.
func (r shownRun) Solo() string {
	if len(r.Tree) != 1 || len(r.Tree[0].Below) > 0 || r.More > 0 {
		return ""
	}
	return r.Tree[0].ID
}

// Why is the reason of the run; "" where its status, its summary or the line of an agent says it.
func (r shownRun) Why() string {
	switch {
	case r.Status == "succeeded", r.Summary != "" && strings.Contains(r.Reason, r.Summary):
		return ""
	case r.Solo() != "":
		return cmp.Or(r.Reason, r.Tree[0].Reason)
	case len(r.Tree) > 0 && r.Tree[0].Reason == r.Reason:
		return ""
	}
	return r.Reason
}

// Version is another for a run that looks otherwise.
func (r shownRun) Version() string {
	return version(struct {
		shownRun
		On string
	}{r, r.Worker})
}

// A shownAgent is an agent with those that it has started.
type shownAgent struct {
	view.AgentView
	Below []shownAgent
}

// treeOf puts each agent below the one that has started it, at most most of them.
func treeOf(v view.RunView, most int) shownRun {
	r := shownRun{RunView: v, Left: !v.GoesOn() && v.EndedAt == nil}
	agents := v.Agents[:min(len(v.Agents), most)]
	r.More = len(v.Agents) - len(agents)
	below := view.ByParent(agents)
	var grow func(string) []shownAgent
	grow = func(parent string) (grown []shownAgent) {
		children := below[parent]
		delete(below, parent)
		for _, a := range children {
			grown = append(grown, shownAgent{a, grow(a.ID)})
		}
		return grown
	}
	r.Tree = grow("")
	return r
}
