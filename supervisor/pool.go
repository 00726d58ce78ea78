package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
)

// Table returns the table of a run; nil where it has none.
func (s State) Table() *notice.Table {
	root := s.Agents.Get(s.Run.Root)
	children := s.Children(root.ID)
	t := notice.Table{Counts: map[Status]int{}, Rows: []notice.Row{}}
	for _, c := range children {
		if !root.Group && c.Delegated.Item == "" {
			continue // work that the root has delegated itself
		}
		row := notice.Row{Item: c.Delegated.Item, Title: c.Delegated.Name, Agent: c.ID, Status: c.Status,
			Summary: notice.Summary(c)}
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
			c.ID, c.Status, notice.Summary(c))
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
	fmt.Fprintf(&b, "## DELEGATED WORK ENDED\n\nTasks: %d (%s)\n", len(lines), notice.Tally(counts))
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
