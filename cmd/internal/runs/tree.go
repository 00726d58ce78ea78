package runs

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// tree lists each run with its agents below it: children below their parents, and below each what it waits for.
func tree(width int, runs []view.RunView, now time.Time) string {
	var rows []terminal.TreeRow
	for _, r := range runs {
		why := strings.TrimPrefix(r.Name+": "+Stands(r), ": ")
		if r.Forked != nil {
			why += " (" + r.Forked.InWords() + ")"
		}
		rows = append(rows, terminal.TreeRow{Cells: []string{
			r.ID, Status(r), terminal.Ago(r.Since, now), "", terminal.Money(r.CostUSD), why,
		}})
		rows = append(rows, agentRows(r, now)...)
	}
	return agentTree(width, "RUN, AGENT", "WHY, TASK", rows)
}

// agentTree lays out rows of agents, in which first and last are the headers of what is not the same in every such
// table. On a narrow terminal an agent has its id and its state in a row, and the rest of what is said of it below.
func agentTree(width int, first, last string, rows []terminal.TreeRow) string {
	header := []string{first, "STATUS", "SINCE", "PRIO", "COST", last}
	const whole = 5
	if width == 0 || terminal.TreeWidth(whole, roomForTask, header, rows) <= width {
		return terminal.Tree(width, whole, header, rows)
	}
	var narrow []terminal.TreeRow
	for _, row := range rows {
		if len(row.Cells) > 0 {
			narrow = append(narrow, terminal.TreeRow{Depth: row.Depth, Cells: row.Cells[:2], Below: row.Cells[whole]})
		}
		narrow = append(narrow, terminal.TreeRow{Depth: row.Depth, Below: row.Below, Fold: true})
	}
	return terminal.Tree(width, 2, header[:2], narrow)
}

// agentRows returns the rows of a run's agents.
func agentRows(r view.RunView, now time.Time) []terminal.TreeRow {
	var rows []terminal.TreeRow
	shown, hidden := folded(r.Agents)
	view.EachBelow(shown, func(depth int, a view.AgentView) {
		row := terminal.TreeRow{Depth: depth, Below: saying(r, a), Cells: []string{
			a.ID, string(a.Status), terminal.Ago(a.Since, now), a.Priority, terminal.Money(a.CostUSD), agentTitle(a),
		}}
		rows = append(rows, row)
		if more := hidden[a.ID]; len(more) > 0 {
			rows = append(rows, terminal.TreeRow{Depth: depth,
				Below: fmt.Sprintf("… %d more below it: %s", len(more), Tally(more))})
		}
	})
	return rows
}

// agentTitle is what an agent does, in a line: as its task file calls it, else how its task begins.
func agentTitle(a view.AgentView) string {
	title := terminal.FirstLine(a.Task)
	if a.Name != "" {
		title = a.Name + ": " + title
	}
	if a.Independence == "optional" {
		title = "(optional) " + title
	}
	return title
}

// saying is what an agent waits for, how far it is, or why it has ended, unless its row or its run's says that already.
func saying(r view.RunView, a view.AgentView) string {
	switch {
	case len(a.OpenQuestions) > 0:
		text := "asks " + a.OpenQuestions[0]
		if _, asked, says := strings.Cut(a.Reason, "asks: "); says { // "at work; asks: …", where a script asks
			text += ": " + asked
		}
		if more := len(a.OpenQuestions) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		return text
	case a.LimitedUntil != nil:
		return "until " + view.Clock(*a.LimitedUntil) + ": " + view.Because(a.Reason)
	case a.Reason == r.Reason, a.Reason == "at work", a.Status == "succeeded", a.Status == "starting":
		return ""
	}
	return view.Because(a.Reason)
}
