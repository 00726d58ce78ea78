package runs

import (
	"slices"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// MaxChildren is how many agents are listed below one; of more, those that a person may have to look at.
const MaxChildren = 20

// folded returns the agents that are listed, in their order, and the others by the one that they stand below. What
// stands below one that is not listed is not listed either.
func folded(agents []view.AgentView) (shown []view.AgentView, hidden map[string][]view.AgentView) {
	children := map[string][]view.AgentView{}
	for _, a := range agents {
		children[a.Parent] = append(children[a.Parent], a)
	}
	out := map[string]bool{}
	hidden = map[string][]view.AgentView{}
	for parent, all := range children {
		if len(all) <= MaxChildren || parent == "" {
			continue
		}
		first := slices.Clone(all)
		slices.SortStableFunc(first, func(a, b view.AgentView) int { return interest(a) - interest(b) })
		listed := map[string]bool{}
		for _, a := range first[:MaxChildren] {
			listed[a.ID] = true
		}
		for _, a := range all {
			if !listed[a.ID] {
				out[a.ID] = true
				hidden[parent] = append(hidden[parent], a)
			}
		}
	}
	for _, a := range agents { // parents stand before their children
		if out[a.ID] || out[a.Parent] {
			out[a.ID] = true
			continue
		}
		shown = append(shown, a)
	}
	return shown, hidden
}

// interest is the place of an agent among those that a person wants to see: who asks, what went wrong, what is under
// way, and last what has succeeded or not begun.
func interest(a view.AgentView) int {
	switch a.Status {
	case "waiting", "parked", "over_budget":
		return 0
	case "failed", "unreported", "stopped", "partial":
		return 1
	case "queued":
		return 3
	case "succeeded":
		return 4
	}
	if len(a.OpenQuestions) > 0 {
		return 0
	}
	return 2
}

// Tally counts agents: "12 succeeded, 3 queued", what there are most of first.
func Tally(agents []view.AgentView) string {
	counts := map[supervisor.Status]int{}
	for _, a := range agents {
		counts[a.Status]++
	}
	return notice.Tally(counts)
}
