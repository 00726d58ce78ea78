package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestATreeIndentsAndCutsNoName(t *testing.T) {
	got := Tree(40, 1, []string{"NAME", "WHAT"}, []TreeRow{
		{Depth: 0, Cells: []string{"r-12345678", "a run with \x1b[31ma long story that does not fit"}},
		{Depth: 1, Cells: []string{"a-123456789012", "the root"}, Below: "asks: which \x1b[2Jof the\nvery many days is it?"},
		{Depth: 1, Below: "… 9 more"},
		{Depth: 3, Cells: []string{"a-abcdefghijkl", "deeper", "beyond the header"}},
		{Depth: -1, Cells: []string{"r-2"}},
		{Depth: 100, Cells: []string{"a-bottomless00", "too deep to be shown so"}},
	})
	want := strings.Join([]string{
		"NAME                          WHAT",
		"r-12345678                    a run wit…",
		"  a-123456789012              the root",
		"    asks: which of the very many days i…",
		"    … 9 more",
		"      a-abcdefghijkl          deeper",
		"r-2",
		"              a-bottomless00  too deep …",
		"",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestATreeOfAgentsFitsEightyColumns(t *testing.T) {
	rows := []TreeRow{{Depth: 0, Cells: []string{"r-12345678", "interrupted", "just now", "1234567",
		"$1,204.00", strings.Repeat("why ", 30)}}}
	for depth := range 12 {
		rows = append(rows, TreeRow{Depth: depth,
			Cells: []string{"a-123456789012", "over_budget", "59m ago", "1234567", "$104.00", strings.Repeat("task ", 30)},
			Below: strings.Repeat("asks ", 30)})
	}
	for line := range strings.Lines(Tree(80, 5, []string{"RUN, AGENT", "STATUS", "SINCE", "PID", "COST", "WHY, TASK"},
		rows)) {
		if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > 80 {
			t.Errorf("%d columns: %s", w, line)
		}
		if id, _, _ := strings.Cut(strings.TrimSpace(line), " "); id != "asks" && len(id) != len("a-123456789012") &&
			len(id) != len("r-12345678") && id != "RUN," {
			t.Errorf("the id is cut: %s", line)
		}
	}
}
