package supervisor

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
	Counts map[Status]int `json:"counts"` // how many of the rows are of each status
	Rows   []Row          `json:"rows"`   // in the order in which the task states them
}

// A Row is one task of a table.
type Row struct {
	Item    string `json:"item"` // of a pool, whole; else the task's name
	Title   string `json:"-"`    // the same for people, in one line
	Agent   string `json:"agent"`
	Status  Status `json:"status"`
	Summary string `json:"summary"` // what it reported, in a line; else why it is as it is
}

// Table returns the table of a run; nil where it has none.
func (s State) Table() *Table {
	root := s.Agents[s.Run.Root]
	children := s.Children(root.ID)
	t := Table{Counts: map[Status]int{}, Rows: []Row{}}
	for _, c := range children {
		if !root.Group && c.Delegated.Item == "" {
			continue // work that the root has delegated itself
		}
		row := Row{Item: c.Delegated.Item, Title: c.Delegated.Name, Agent: c.ID, Status: c.Status, Summary: summary(c)}
		if row.Title == "" {
			row.Title = text.FirstLine(c.Task)
		}
		if row.Item == "" {
			row.Item = row.Title
		}
		t.Counts[c.Status]++
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &t
}

// Pool reports whether the run has a pool of tasks.
func (s State) Pool() bool {
	for _, c := range s.Children(s.Run.Root) {
		if c.Delegated.Item != "" {
			return true
		}
	}
	return false
}

// Tally says how many there are of each status, what there are most of first: "12 succeeded, 3 queued".
func Tally(counts map[Status]int) string {
	statuses := slices.SortedFunc(maps.Keys(counts), func(a, b Status) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	parts := make([]string, len(statuses))
	for i, s := range statuses {
		parts[i] = fmt.Sprintf("%d %s", counts[s], s)
	}
	return strings.Join(parts, ", ")
}

// maxPoolTold bounds what an agent reads of the tasks of a pool that has ended before it begins, in bytes.
const maxPoolTold = 32 << 10

// inPool reports whether the end of a child is told with those of the whole pool, by the first words to an agent that
// begins when it has ended: a thousand of them, each by itself, would be most of what that can read.
func (s State) inPool(c *Agent) bool { return c.Delegated.Item != "" && s.Launch(c.Parent) == nil }

// poolEnded is what an agent reads of its pool at its beginning; "" for one that has none. What has not succeeded
// stands first, lest it be left out.
func (s State) poolEnded(a *Agent) string {
	counts := map[Status]int{}
	var good, bad []string
	for _, c := range s.Children(a.ID) {
		if c.Delegated.Item == "" {
			continue
		}
		counts[c.Status]++
		line := fmt.Sprintf("- %s (%s) %s: %s\n", text.Truncate(text.FirstLine(c.Delegated.Item), text.MaxNamed),
			c.ID, c.Status, summary(c))
		if c.Status == checkpoints.Succeeded {
			good = append(good, line)
		} else {
			bad = append(bad, line)
		}
	}
	lines := slices.Concat(bad, good)
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATED WORK ENDED\n\nTasks: %d (%s)\n", len(lines), Tally(counts))
	for i, line := range lines {
		if b.Len()+len(line) > maxPoolTold {
			fmt.Fprintf(&b, "and %d more\n", len(lines)-i)
			break
		}
		b.WriteString(line)
	}
	fmt.Fprintf(&b, "All of it: claude-supervise show %s --json, under tasks", s.Run.ID)
	return b.String()
}

// summary says in a line what an agent has come to: what it reported, else why it is as it is.
func summary(a *Agent) string {
	if a.Report != nil && a.Status.Ended() && strings.TrimSpace(a.Report.Summary) != "" {
		return text.FirstLine(a.Report.Summary)
	}
	return text.FirstLine(a.Reason)
}
