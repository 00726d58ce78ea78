package view

import "slices"

// EachBelow calls f for each agent once, the agents of a run at depth 1 and children right below their parents, in the
// order in which they are given. One whose parent is not there (or is itself, through others) stands at depth 1, too.
func EachBelow(agents []AgentView, f func(depth int, a AgentView)) {
	below, told := ByParent(agents), map[string]bool{}
	var tell func(depth int, a AgentView)
	tell = func(depth int, a AgentView) {
		if told[a.ID] {
			return
		}
		told[a.ID] = true
		f(depth, a)
		for _, child := range below[a.ID] {
			tell(depth+1, child)
		}
	}
	for _, a := range slices.Concat(below[""], agents) {
		tell(1, a)
	}
}

// ByParent returns agents by the id of the one that has started each, in their order; those whose parent is not among
// them under "". Who walks through it takes each list out: in a database that somebody has changed, parents may go in a
// circle.
func ByParent(agents []AgentView) map[string][]AgentView {
	known := map[string]bool{}
	for _, a := range agents {
		known[a.ID] = true
	}
	below := map[string][]AgentView{}
	for _, a := range agents {
		if !known[a.Parent] {
			below[""] = append(below[""], a)
		} else {
			below[a.Parent] = append(below[a.Parent], a)
		}
	}
	return below
}
