package questions

import (
	"fmt"
	"strings"

	"claude-supervise/supervisor/text"
)

// How long the label of an option is, in bytes, for other text to be near it.
const shortLabel, longLabel = 3, 100

// Near gives the option that a person's own words are nearly the label of, which they are not taken for: a letter is
// put in, left out or another one, in a long label two. It is -1 if there is none.
func (q Terms) Near(said string) (at int) {
	if len(said) > 2*longLabel || q.Decides() || q.Validate != "" {
		return -1
	}
	if picked, err := q.Named(said); err != nil || len(picked) > 0 {
		return -1
	}
	at, said = -1, Fold(said)
	least := 3
	for i, label := range q.Labels() {
		long := len(label.folded)
		if long < shortLabel || long > longLabel || strings.HasPrefix(said, label.folded+":") {
			continue
		}
		if d := text.Distance(said, label.folded); d < least && (d == 1 || long > 2*shortLabel) {
			at, least = i, d
		}
	}
	return at
}

// Beside says that an answer is near an option, and is none; "" if it is near none.
func (q Terms) Beside(answer string) string {
	at := q.Near(answer)
	if at < 0 {
		return ""
	}
	return fmt.Sprintf("taken as your own words; option %d is %s", at+1, Show(q.Options[at].Label))
}
