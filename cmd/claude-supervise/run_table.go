package main

import (
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
)

// table lays out what became of the tasks of a run, with their counts below.
func table(width int, t *supervisor.Table) string {
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = []string{r.Agent, string(r.Status), r.Title, r.Summary}
	}
	return terminal.Table(width, 2, []string{"AGENT", "STATUS", "TASK", "SUMMARY"}, rows) + supervisor.Tally(t.Counts)
}
