// Package screentest compares what is on a screen with golden files, as an emulator of a terminal shows it.
package screentest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the screens in testdata/screens as they are now")

// Golden compares screens with testdata/screens of the package that is tested.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what is on the screen; if it is to be so, -update\n%s", file, diff)
	}
}

// Rows returns the rows of a screen, cell by cell, without the blanks at their ends; of rows that are alike one, and
// how many more there are.
func Rows(screen *vt.Emulator, of func(screen *vt.Emulator, x, y int) string) string {
	var all []string
	for y := range screen.Height() {
		row := ""
		for x := range screen.Width() {
			row += of(screen, x, y)
		}
		all = append(all, strings.TrimRight(row, " "))
	}
	var short strings.Builder
	for at := 0; at < len(all); {
		next := at + 1
		for next < len(all) && all[next] == all[at] {
			next++
		}
		short.WriteString(all[at] + "\n")
		switch more := next - at - 1; {
		case more == 1:
			next--
		case more > 1:
			fmt.Fprintf(&short, "(%d more like this)\n", more)
		}
		at = next
	}
	return short.String()
}

// Content is what is in a cell; the second cell of a wide character has nothing.
func Content(screen *vt.Emulator, x, y int) string { return screen.CellAt(x, y).Content }

// Look is a letter for what a cell looks like: a colour, else bold, faint or reversed.
func Look(screen *vt.Emulator, x, y int) string {
	cell := screen.CellAt(x, y)
	colours := map[any]string{ansi.Red: "r", ansi.Green: "g", ansi.Yellow: "y", ansi.Cyan: "c"}
	look, coloured := colours[cell.Style.Fg]
	switch {
	case coloured:
	case cell.Style.Attrs&1 != 0:
		look = "b"
	case cell.Style.Attrs&2 != 0:
		look = "f"
	case cell.Style.Attrs != 0:
		look = "x"
	default:
		look = " "
	}
	return look
}
