package view

// EachBelow calls f for each agent once, the agents of a run at depth 1 and children right below their parents, in the
// order in which they are given. One whose parent is not there (or is itself, through others) stands at depth 1, too.
func EachBelow(agents []AgentView, f func(depth int, a AgentView)) {
	children := map[string][]AgentView{}
	there := map[string]bool{}
	for _, a := range agents {
		children[a.Parent] = append(children[a.Parent], a)
		there[a.ID] = true
	}
	told := map[string]bool{}
	var tell func(depth int, a AgentView)
	tell = func(depth int, a AgentView) {
		if told[a.ID] {
			return
		}
		told[a.ID] = true
		f(depth, a)
		for _, child := range children[a.ID] {
			tell(depth+1, child)
		}
	}
	for _, a := range agents {
		if !there[a.Parent] {
			tell(1, a)
		}
	}
	for _, a := range agents {
		tell(1, a)
	}
}
