package terminal

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxPicked is how many rows Pick shows.
const maxPicked = 20

// Pick has the person choose one of some rows on the terminal, and gives its place; false if they choose none. Nothing
// is preselected, and of many only the first are shown.
func Pick(title string, rows []string) (at int, chosen bool) {
	var list strings.Builder
	list.WriteString(title + "\n")
	shown := rows[:min(len(rows), maxPicked)]
	for i, row := range shown {
		fmt.Fprintf(&list, "%3d) %s\n", i+1, CleanLine(row, 74))
	}
	if more := len(rows) - len(shown); more > 0 {
		fmt.Fprintf(&list, "     … %d more\n", more)
	}
	for text := list.String(); ; {
		said, err := AskLine(os.Stdin, os.Stderr, text, "Number: ")
		if err != nil || said == "" {
			return 0, false
		}
		if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(shown) {
			return n - 1, true
		}
		text = fmt.Sprintf("It takes a number from 1 to %d; Enter alone chooses none.\n", len(shown))
	}
}
