package notice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// A Table is what has become of the tasks of a run that is nothing but its tasks, or has a pool of them; as `run
// --json` and `show --json` give it. Fields may be added, never renamed.
type Table struct {
	Counts map[checkpoints.Status]int `json:"counts"` // how many of the rows are of each status
	Rows   []Row                      `json:"rows"`   // in the order in which the task states them
}

// A Row is one task of a table.
type Row struct {
	Item    string             `json:"item"` // of a pool, whole; else the task's name
	Title   string             `json:"-"`    // the same for people, in one line
	Agent   string             `json:"agent"`
	Status  checkpoints.Status `json:"status"`
	Summary string             `json:"summary"` // what it reported, in a line; else why it is as it is
}

// Tally says how many there are of each status, what there are most of first: "12 succeeded, 3 queued".
func Tally(counts map[checkpoints.Status]int) string {
	statuses := slices.SortedFunc(maps.Keys(counts), func(a, b checkpoints.Status) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	parts := make([]string, len(statuses))
	for i, s := range statuses {
		parts[i] = fmt.Sprintf("%d %s", counts[s], s)
	}
	return strings.Join(parts, ", ")
}

// Summary says in a line what an agent has come to: what it reported, else why it is as it is.
func Summary(a *checkpoints.Agent) string {
	if a.Report != nil && a.Status.Ended() && strings.TrimSpace(a.Report.Summary) != "" {
		return text.FirstLine(a.Report.Summary)
	}
	return text.FirstLine(a.Reason)
}
