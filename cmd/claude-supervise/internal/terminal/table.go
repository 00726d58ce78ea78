package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	gap       = 2 // cells between two columns
	narrowest = 6 // a column is not made narrower than this
)

// Table lays out rows under a header in columns, each line at most width terminal cells (0 or less: no limit). To fit, the
// widest columns are cut first, with an ellipsis; so ids and numbers stay whole beside long texts. Cells are cleaned. Rows may
// be shorter than the header; what is longer is left out. The result ends in a newline.
//
// Unlike text/tabwriter it counts terminal cells, not runes: names in wide scripts stay aligned.
func Table(width int, header []string, rows [][]string) string {
	widths := make([]int, len(header))
	lines := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{header}, rows...) {
		line := make([]string, len(header))
		for i := range min(len(row), len(header)) {
			line[i] = CleanLine(row[i], 0)
			widths[i] = max(widths[i], ansi.StringWidth(line[i]))
		}
		lines = append(lines, line)
	}
	if width > 0 {
		narrow(widths, width-gap*(len(widths)-1))
	}
	var b strings.Builder
	for _, line := range lines {
		var row strings.Builder
		for i, cell := range line {
			cell = ansi.Truncate(cell, widths[i], "…")
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
