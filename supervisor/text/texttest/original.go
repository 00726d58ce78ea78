// Package texttest reads visible text back, for tests of what a person is shown.
package texttest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// form is what package text writes for what cannot be seen, with the backslashes before it.
var form = regexp.MustCompile(`(\\+)(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|⇥(?:   )?`)

// Original returns the text of which text.Visible, or VisibleLine, has made this. It shares no code with them.
func Original(visible string) (string, error) {
	var wrong error
	original := form.ReplaceAllStringFunc(visible, func(found string) string {
		parts := form.FindStringSubmatch(found)
		slashes, code := parts[1], parts[2]
		switch {
		case code == "" && found == "⇥   ":
			return "\t"
		case code == "":
			wrong = fmt.Errorf("a tab's sign without its spaces in %q", visible)
			return found
		case len(slashes)%2 == 0:
			return slashes[:len(slashes)/2] + code
		}
		n, err := strconv.ParseUint(code[1:], 16, 32)
		if err != nil {
			wrong = err
		}
		if code[0] == 'x' {
			return slashes[:len(slashes)/2] + string([]byte{byte(n)})
		}
		return slashes[:len(slashes)/2] + string(rune(n))
	})
	return original, wrong
}

// Unwrapped joins the rows of a text as a terminal shows it: what goes on in the next row begins there with sign, after
// an indent that all rows have.
func Unwrapped(rows, indent, sign string) string {
	var b strings.Builder
	for i, row := range strings.Split(rows, "\n") {
		row = strings.TrimPrefix(row, indent)
		on, goesOn := strings.CutPrefix(row, sign)
		switch {
		case i == 0:
			b.WriteString(row)
		case goesOn:
			b.WriteString(on)
		default:
			b.WriteString("\n" + row)
		}
	}
	return b.String()
}
