package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// optionAt gives the option, or ownWords, to which the last of some rows of the list belongs. An option's first row
// begins with its key right behind the gutter; those of its description are indented.
func (c *choices) optionAt(rows []string) (at int, is bool) {
	gutter := c.gutter()
	firsts := map[string]int{}
	if c.own {
		firsts[CleanLine("In your own words …", c.width-gutter)] = ownWords
	}
	for _, i := range c.listed() {
		first, _, _ := strings.Cut(optionText(c.q.Options[i], c.keys[i], c.width-gutter-1), "\n")
		firsts[strings.TrimRight(first, " ")] = i
	}
	for len(rows) > 0 {
		last := ansi.TruncateLeft(ansi.Strip(rows[len(rows)-1]), gutter, "")
		if at, is := firsts[strings.TrimRight(last, " ")]; is {
			return at, true
		}
		rows = rows[:len(rows)-1]
	}
	return 0, false
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
