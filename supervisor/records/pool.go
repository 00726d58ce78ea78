package records

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
)

// Table returns the table of a run; nil where it has none.
func (s Records) Table() *notice.Table {
	root := s.Agents.Get(s.Run.Root)
	children := s.Children(root.ID)
	t := notice.Table{Counts: map[checkpoints.Status]int{}, Rows: []notice.Row{}}
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
func (s Records) Pool() bool {
	for _, c := range s.Children(s.Run.Root) {
		if c.Delegated.Item != "" {
			return true
		}
	}
	return false
}

// InPool reports whether the end of a child is told with those of the whole pool, by the first words to an agent that
// begins when it has ended: a thousand of them, each by itself, would be most of what that can read.
func (s Records) InPool(c *checkpoints.Agent) bool {
	return c.Delegated.Item != "" && s.Launch(c.Parent) == nil
}
