package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// optionAt returns the option, or ownWords, to which the last of some rows of the list belongs.
func (c *choices) optionAt(rows []string) (at int, is bool) {
	if firsts := c.firsts(rows); len(firsts) > 0 {
		return firsts[len(firsts)-1], true
	}
	return 0, false
}

// firsts returns the options, and ownWords, whose first row is among some of the list. It begins with the option's key
// right behind the gutter; those of its description are indented.
func (c *choices) firsts(rows []string) (seen []int) {
	gutter := c.gutter()
	firsts := map[string]int{}
	if c.own {
		firsts[c.ownRow()] = ownWords
	}
	for _, i := range c.listed() {
		first, _, _ := strings.Cut(c.text(i), "\n")
		firsts[strings.TrimRight(first, " ")] = i
	}
	for _, row := range rows {
		row = ansi.TruncateLeft(ansi.Strip(row), gutter, "")
		if at, is := firsts[strings.TrimRight(row, " ")]; is {
			seen = append(seen, at)
		}
	}
	return seen
}

// click does for an option what its key does, and puts the cursor on the row for own words.
func (c *choices) click(at int) {
	c.keyed = ""
	if c.q.MultiSelect && at != ownWords {
		c.markAt(at)
		return
	}
	c.goTo(at)
}
