// Package precedents finds what a person has answered before to what is asked now. It answers nothing: what it finds is
// shown, and a person takes it or does not.
package precedents

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// A likeness is how much of a question is that of another.
type likeness int

const (
	other likeness = iota
	near           // it asks the same in other words
	same           // it asks the very same
)

// compare says how alike two questions are. One whose answer lets something happen is only ever the same.
func compare(a, b *checkpoints.Question) likeness {
	switch {
	case !a.SameImage(b): // each is about its own
		return other
	case key(a) == key(b):
		return same
	case a.Kind != b.Kind || a.Validate != b.Validate || a.MultiSelect != b.MultiSelect || questions.KindOf(a.Kind).Lets:
		return other
	case isNear(a, b):
		return near
	}
	return other
}

// key is the same for questions that ask the very same, however they are spaced and capitalised.
func key(q *checkpoints.Question) string {
	labels := make([]string, len(q.Options))
	for i, o := range q.Options {
		labels[i] = questions.Fold(o.Label)
	}
	slices.Sort(labels)
	var call string
	if q.Tool != nil && questions.KindOf(q.Kind).Lets {
		call = q.Fingerprint
	}
	sum := fnv.New128a()
	_, _ = fmt.Fprintf(sum, "%q %q %q %q %q %v %q", q.Kind, questions.Fold(q.Header), questions.Fold(q.Text), labels,
		q.Validate, q.MultiSelect, call) // it returns no error
	return fmt.Sprintf("key%x", sum.Sum(nil))
}

// What two questions need to have in common to be near, of 1: of what they offer; and of their words, less where they
// offer the same that hardly any other question does.
const (
	nearOffered  = 0.5
	nearIfSpoken = 0.4
	nearByWords  = 0.7
)

// isNear holds the words of two questions against each other. There must be two at least, or the offer says it.
func isNear(a, b *checkpoints.Question) bool {
	ours, theirs := readingOf(a), readingOf(b)
	if !slices.Equal(ours.names, theirs.names) || ours.negated != theirs.negated {
		return false
	}
	offered, wanted := labels(a), labels(b)
	alike := inCommon(offered, wanted)
	switch {
	case len(offered)+len(wanted) > 0 && alike < nearOffered:
		return false
	case alike == 1 && !slices.ContainsFunc(offered, isUsual):
		return inCommon(ours.words, theirs.words) >= nearIfSpoken
	}
	return len(ours.words) > 1 && inCommon(ours.words, theirs.words) >= nearByWords
}

var usual = []string{"yes", "no", "ok", "cancel", "continue", "abort", "retry", "skip", "later", "stop"}

// isUsual reports whether a label is offered for anything.
func isUsual(label string) bool {
	return slices.Contains(usual, label)
}

func labels(q *checkpoints.Question) (all []string) {
	for _, o := range q.Options {
		all = append(all, questions.Fold(o.Label))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inCommon is how much of two sorted lists without doubles is in both, of 1: Dice's coefficient.
func inCommon(a, b []string) float64 {
	both := 0
	for _, w := range a {
		if _, is := slices.BinarySearch(b, w); is {
			both++
		}
	}
	return 2 * float64(both) / float64(max(len(a)+len(b), 1))
}

// A reading is what of a text says what it is about.
type reading struct {
	words   []string // sorted, each once, without what every question has, and without most endings
	names   []string // sorted, each once: files, numbers, identifiers. Of another one is asked something else
	negated bool
}

func readingOf(q *checkpoints.Question) reading { return read(q.Header + " " + q.Text) }

func read(text string) (r reading) {
	for _, field := range strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`,;:!?()[]{}<>"`+"`“”„…", c)
	}) {
		field = strings.Trim(field, ".'’*")
		word := strings.ToLower(field)
		switch {
		case word == "":
		case slices.Contains(negations, word) || strings.HasSuffix(word, "n't"):
			r.negated = !r.negated
		case isName(field):
			r.names = append(r.names, word)
		case !slices.Contains(common, word):
			for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return !unicode.IsLetter(c) }) {
				r.words = append(r.words, stem(part))
			}
		}
	}
	for _, list := range []*[]string{&r.words, &r.names} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

// isName reports whether a word is that of one thing: it has a digit, a path, or small and capital letters as no word.
func isName(word string) bool {
	inner := strings.TrimFunc(word, unicode.IsPunct)
	return strings.ContainsFunc(inner, unicode.IsDigit) || strings.ContainsAny(inner, `._/\$%@=~#`) ||
		strings.ContainsAny(word[:1], `/.~$-@`) ||
		strings.ContainsFunc(inner, unicode.IsLower) && strings.LastIndexFunc(inner, unicode.IsUpper) > 0
}

var negations = []string{"not", "never", "without", "no", "instead"}

var common = strings.Fields(`
	a an and any are as at be by can could do does for from go have how i if in into is it its me my of on or our
	please shall should so that the them then there these they this those to us use used using want was we what
	when where which who will with would you your`)

// stem takes off the endings by which the same word differs most.
func stem(word string) string {
	for _, ending := range []string{"ing", "ied", "ies", "ed", "es", "s"} {
		if rest, is := strings.CutSuffix(word, ending); is && len(rest) > 3 {
			return strings.TrimSuffix(rest, "e")
		}
	}
	return strings.TrimSuffix(word, "e")
}
