package runs

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// roomForTask is how many columns the task of a run or an agent needs at least to stand beside its numbers.
const roomForTask = 10

// A column is what a list of runs says of each below a header.
type column struct {
	header string
	of     func(r view.RunView, now time.Time) string
}

// The columns of a list of runs. No id, state or NEXT is ever cut.
var (
	columns = []column{
		{"RUN", func(r view.RunView, _ time.Time) string { return r.ID }},
		{"STATUS", func(r view.RunView, _ time.Time) string { return Status(r) }},
		{"SINCE", func(r view.RunView, now time.Time) string { return terminal.Ago(r.Since, now) }},
		{"ASKS", func(r view.RunView, _ time.Time) string { return strconv.Itoa(len(r.OpenQuestions)) }},
		{"COST", func(r view.RunView, _ time.Time) string { return terminal.Money(r.CostUSD) }},
	}
	columnsHere = append(slices.Clip(columns),
		column{"NEXT", func(r view.RunView, _ time.Time) string { return next(r) }})
	columnsElsewhere = append(slices.Clip(columns),
		column{"WORKER", func(r view.RunView, _ time.Time) string { return r.Worker }},
		column{"NAME", func(r view.RunView, _ time.Time) string { return r.Name }})
)

// columnsOf returns the headers of columns, and the rows of runs.
func columnsOf(columns []column, runs []view.RunView, now time.Time) (header []string, rows [][]string) {
	rows = make([][]string, len(runs))
	for _, c := range columns {
		header = append(header, c.header)
		for i, r := range runs {
			rows[i] = append(rows[i], c.of(r, now))
		}
	}
	return header, rows
}

// table lists runs, without a limit of columns where width is 0: each in one row if nothing is cut by that. Else why
// it stands as it does and its folder are a row below, and on a narrow terminal its task, too.
func table(width int, runs []view.RunView, now time.Time) string {
	header, cells := columnsOf(columnsHere, runs, now)
	whole := len(header)
	task := whole + 1
	rows, two, three := make([]terminal.TreeRow, len(runs)), make([]terminal.TreeRow, len(runs)), []terminal.TreeRow{}
	for i, r := range runs {
		folder, why := terminal.FromHome(r.Cwd), why(r)
		rows[i].Cells = append(cells[i], Title(r), why, folder)
		two[i] = terminal.TreeRow{Cells: rows[i].Cells[:task], Below: why + " · " + lastPart(folder)}
		three = append(three, terminal.TreeRow{Cells: []string{r.ID, Status(r), next(r)}, Below: Title(r)},
			terminal.TreeRow{Below: why, Fold: true}, terminal.TreeRow{Below: folder, Fold: true})
	}
	header = append(header, "TASK", "WHY", "FOLDER")
	switch {
	case width == 0 || terminal.TreeWidth(len(header), 0, header, rows) <= width:
		return terminal.Tree(width, len(header), header, rows)
	case terminal.TreeWidth(whole, roomForTask, header[:task], two) <= width:
		return terminal.Tree(width, whole, header[:task], two)
	}
	return terminal.Tree(width, 3, []string{"RUN", "STATUS", "NEXT"}, three)
}

// elsewhere lists runs of other machines, each with why it stands as it does below it.
func elsewhere(width int, runs []view.RunView, now time.Time) string {
	header, cells := columnsOf(columnsElsewhere, runs, now)
	rows := make([]terminal.TreeRow, len(runs))
	for i, r := range runs {
		rows[i] = terminal.TreeRow{Cells: cells[i], Below: r.Reason}
	}
	return terminal.Tree(width, len(header), header, rows)
}

// next is what a person does for a run to go on: one that somebody supervises goes on by itself once it is answered.
func next(r view.RunView) string {
	asks := len(r.OpenQuestions) > 0
	switch {
	case r.EndedAt != nil, r.Packed:
		return ""
	case r.Suspended:
		return "fg"
	case r.GoesOn() && asks:
		return "answer"
	case r.GoesOn():
		return ""
	case r.FolderGone:
		return "resume --cwd"
	case asks:
		return "answer, resume"
	}
	return "resume"
}

// longFolder is from how many bytes on the path of a folder leaves no room beside it.
const longFolder = 40

// lastPart is a folder, or where that is long its own name.
func lastPart(folder string) string {
	if len(folder) < longFolder {
		return folder
	}
	return "…/" + filepath.Base(folder)
}

// Status is where a run stands, in a word.
func Status(r view.RunView) string {
	if r.Suspended {
		return "suspended"
	}
	return string(r.Status)
}

// why says why a run stands as it does. One whose agents wait for one another tells what a person is asked below: that
// ends it.
func why(r view.RunView) string {
	if i := slices.IndexFunc(r.Agents, func(a view.AgentView) bool { return len(a.OpenQuestions) > 0 }); i >= 0 &&
		r.Status == "blocked" {
		return view.Because(r.Agents[i].Reason)
	}
	return Stands(r)
}

// Stands is a run's own reason, unless all that it has asked was answered since.
func Stands(r view.RunView) string {
	if r.Status == "parked" && len(r.OpenQuestions) == 0 && !r.Packed {
		return "answered; no process is running"
	}
	return view.Because(r.Reason)
}

// Title names a run for people: its name, else where it comes from and the first line of its task.
func Title(r view.RunView) string {
	if r.Name != "" || len(r.Agents) == 0 {
		return r.Name
	}
	if r.Forked != nil {
		return r.Forked.InWords() + ": " + terminal.FirstLine(r.Agents[0].Task)
	}
	return terminal.FirstLine(r.Agents[0].Task)
}
