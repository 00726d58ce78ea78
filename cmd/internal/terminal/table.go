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
// the widest of the last columns are cut first, with an ellipsis; the first whole ones, with ids, states and numbers,
// never are. Cells are cleaned. Rows may be shorter than the header; what is longer is left out. The result ends in a
// newline.
//
// Unlike text/tabwriter it counts terminal cells, not runes: names in wide scripts stay aligned.
func Table(width, whole int, header []string, rows [][]string) string {
	lines := [][]string{cleaned(header, len(header))}
	for _, row := range rows {
		lines = append(lines, cleaned(row, len(header)))
	}
	return layOut(width, whole, lines)
}

// A TreeRow is a row of Tree that stands below the last one before it with a smaller depth.
type TreeRow struct {
	Depth int
	Cells []string // none: the row is nothing but Below
	Below string   // a line of its own below the row, over all columns; empty: there is none
	Fold  bool     // Below is folded where it does not fit, instead of cut
}

// deepest is how deep a row of a tree is indented at the most: below that, all stand under one another.
const deepest = 7

// Tree is Table for rows of which some belong below others: their first cells are indented, two terminal cells for each
// step of depth.
func Tree(width, whole int, header []string, rows []TreeRow) string {
	laid := strings.SplitAfter(layOut(width, whole, treeLines(header, rows)), "\n")
	var b strings.Builder
	b.WriteString(laid[0])
	laid = laid[1:]
	for _, row := range rows {
		if len(row.Cells) > 0 {
			b.WriteString(laid[0])
			laid = laid[1:]
		}
		below := CleanLine(row.Below, 0)
		switch indent := indent(row) + "  "; {
		case below == "":
		case width > 0 && row.Fold:
			b.WriteString(wrap(below, indent, width) + "\n")
		case width > 0:
			b.WriteString(text.Cut(indent+below, width) + "\n")
		default:
			b.WriteString(indent + below + "\n")
		}
	}
	return b.String()
}

// TreeWidth is how many terminal cells the columns of a Tree take if the last ones, which may be cut, are at most least
// wide.
func TreeWidth(whole, least int, header []string, rows []TreeRow) int {
	total := -gap
	widths, _ := measured(treeLines(header, rows))
	for i, w := range widths {
		if i >= whole {
			w = min(w, least)
		}
		total += w + gap
	}
	return total
}

// treeLines returns the cells of a tree, its header first; rows without cells have none.
func treeLines(header []string, rows []TreeRow) [][]string {
	lines := [][]string{cleaned(header, len(header))}
	for _, row := range rows {
		if len(row.Cells) > 0 {
			line := cleaned(row.Cells, len(header))
			line[0] = indent(row) + line[0]
			lines = append(lines, line)
		}
	}
	return lines
}

func indent(row TreeRow) string { return strings.Repeat("  ", min(max(row.Depth, 0), deepest)) }

// cleaned returns a row of as many columns as there are, each safe to show.
func cleaned(row []string, columns int) []string {
	line := make([]string, columns)
	for i := range min(len(row), columns) {
		line[i] = CleanLine(row[i], 0)
	}
	return line
}

// measured returns how wide each cell of the lines is, all of equal length, and the columns in which none of them is
// cut.
func measured(lines [][]string) (columns []int, cells [][]int) {
	columns, cells = make([]int, len(lines[0])), make([][]int, len(lines))
	for row, line := range lines {
		cells[row] = make([]int, len(line))
		for i, cell := range line {
			cells[row][i] = ansi.StringWidth(cell)
			columns[i] = max(columns[i], cells[row][i])
		}
	}
	return columns, cells
}

// layOut pads lines of equal length to columns, and cuts those behind the first whole ones.
func layOut(width, whole int, lines [][]string) string {
	widths, cells := measured(lines)
	if width > 0 && len(widths) > whole {
		space := width - gap*(len(widths)-1)
		for _, w := range widths[:whole] {
			space -= w
		}
		narrow(widths[whole:], space)
	}
	var b strings.Builder
	for at, line := range lines {
		var row strings.Builder
		for i, cell := range line {
			wide := cells[at][i]
			if wide > widths[i] {
				cell = text.Cut(cell, widths[i])
				wide = ansi.StringWidth(cell)
			}
			row.WriteString(cell + strings.Repeat(" ", widths[i]-wide+gap))
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
