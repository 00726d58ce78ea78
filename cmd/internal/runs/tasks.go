package runs

import (
	"fmt"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

// Tasks lays out what became of the tasks of a run, with their counts below.
func Tasks(width int, t *notice.Table) string {
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = []string{r.Agent, string(r.Status), r.Title, r.Summary}
	}
	return terminal.Table(width, 2, []string{"AGENT", "STATUS", "TASK", "SUMMARY"}, rows) + notice.Tally(t.Counts)
}

// Criteria shows each success criterion above what the report says of it.
func Criteria(criteria []task.Criterion) string {
	var b strings.Builder
	for _, c := range criteria {
		said := c.Achieved
		if said == "" {
			said = "(the report does not say)"
		}
		fmt.Fprintf(&b, "- %s\n    %s\n", strings.ReplaceAll(c.Criterion, "\n", " "),
			strings.ReplaceAll(said, "\n", "\n    "))
	}
	return b.String()
}
