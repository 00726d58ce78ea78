package questions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/checkpoints"
)

// MaxKept is how many options of a question are kept.
const MaxKept = 100

// TakesOptionsOnly reports whether a question is one of a script, asked by a question file, that knows no other answers
// than the options that it lists: it lists some that can be seen, no more than are kept, and its file does not say
// otherwise.
func TakesOptionsOnly(q *Question) bool {
	if q.File == nil && q.Kind != AskFile || len(q.Options) >= MaxKept {
		return false
	}
	seen := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	return !q.OwnWords && (q.Validate == "" || q.Validate == "choice") &&
		slices.ContainsFunc(q.Options, func(o checkpoints.Option) bool { return strings.ContainsFunc(o.Label, seen) })
}

// CheckScripted refuses an answer that the script which has asked by a question file knows nothing of: it would go on
// without having done anything.
func checkScripted(q *Question, answer string) error {
	given := *q
	given.Answer, given.Declined, given.Skipped = answer, false, false
	if !TakesOptionsOnly(q) || len(Chosen(&given)) > 0 {
		return nil
	}
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return fmt.Errorf("%q is not one of the options that its script knows: %s", answer, strings.Join(labels, ", "))
}

// Chosen returns the labels that an answer consists of; none for one in own words.
func Chosen(q *Question) []string {
	var labels []string
	for rest := q.Answer; !q.Declined && !q.Skipped; {
		label, found := "", false
		for _, o := range q.Options {
			if after, is := strings.CutPrefix(rest, o.Label); is && len(o.Label) >= len(label) &&
				(after == "" || q.MultiSelect && strings.HasPrefix(after, ", ")) {
				label, found = o.Label, true
			}
		}
		if !found {
			return nil
		}
		labels = append(labels, label)
		if rest = rest[len(label):]; rest == "" {
			return labels
		}
		rest = rest[len(", "):]
	}
	return nil
}
