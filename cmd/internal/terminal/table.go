package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/text"
)

const (
	gap       = 2 // cells between two columns
	narrowest = 6 // a column is not made narrower than this
)

// Table lays out rows under a header in columns, each line at most width terminal cells (0 or less: no limit). To fit,
// the widest columns are cut first, with an ellipsis, so numbers stay whole beside long texts; the first column, with
// the ids, never is. Cells are cleaned. Rows may be shorter than the header; what is longer is left out. The result
// ends in a newline.
//
// Unlike text/tabwriter it counts terminal cells, not runes: names in wide scripts stay aligned.
func Table(width int, header []string, rows [][]string) string {
	lines := [][]string{cleaned(header, len(header))}
	for _, row := range rows {
		lines = append(lines, cleaned(row, len(header)))
	}
	return layOut(width, lines)
}

// A TreeRow is a row of Tree that stands below the last one before it with a smaller depth.
type TreeRow struct {
	Depth int
	Cells []string // none: the row is nothing but Below
	Below string   // a line of its own below the row, over all columns; empty: there is none
}

// deepest is how deep a row of a tree is indented at the most: below that, all stand under one another.
const deepest = 7

// Tree is Table for rows of which some belong below others: their first cells are indented, two terminal cells for each
// step of depth.
func Tree(width int, header []string, rows []TreeRow) string {
	lines := [][]string{cleaned(header, len(header))}
	indented := func(row TreeRow, text string) string {
		return strings.Repeat("  ", min(max(row.Depth, 0), deepest)) + text
	}
	for _, row := range rows {
		if len(row.Cells) > 0 {
			line := cleaned(row.Cells, len(header))
			line[0] = indented(row, line[0])
			lines = append(lines, line)
		}
	}
	laid := strings.SplitAfter(layOut(width, lines), "\n")
	var b strings.Builder
	b.WriteString(laid[0])
	laid = laid[1:]
	for _, row := range rows {
		if len(row.Cells) > 0 {
			b.WriteString(laid[0])
			laid = laid[1:]
		}
		if below := CleanLine(row.Below, 0); below != "" {
			line := indented(row, "  "+below)
			if width > 0 {
				line = text.Fit(line, width)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// cleaned gives a row of as many columns as there are, each safe to show.
func cleaned(row []string, columns int) []string {
	line := make([]string, columns)
	for i := range min(len(row), columns) {
		line[i] = CleanLine(row[i], 0)
	}
	return line
}

// layOut pads and cuts lines of equal length to columns.
func layOut(width int, lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	if width > 0 && len(widths) > 1 {
		narrow(widths[1:], width-widths[0]-gap*(len(widths)-1))
	}
	var b strings.Builder
	for _, line := range lines {
		var row strings.Builder
		for i, cell := range line {
			cell = text.Fit(cell, widths[i])
			row.WriteString(cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+gap))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

// narrow takes cells from the widest column, one by one, until all fit into space or none can give any more.
func narrow(widths []int, space int) {
	total := 0
	for i := range widths {
		widths[i] = min(widths[i], max(space, narrowest))
		total += widths[i]
	}
	for ; total > space; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}
