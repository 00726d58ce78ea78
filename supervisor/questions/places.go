package questions

import (
	"slices"
	"strconv"
	"strings"

	"claude-supervise/supervisor/text"
)

// This file is for a form that is not drawn here, as on a page: its options are chosen by their places.

// Pick turns chosen options, by their places from 0, into the answer that is stored, or returns a *Refusal, as Choose
// does for what was typed.
func (q Terms) Pick(places []int, at Place) (string, error) { return q.decided(q.pick(places, at)) }

func (q Terms) pick(places []int, from Place) (string, error) {
	for _, at := range places {
		if at < 0 || at >= len(q.Options) || Blank(q.Options[at]) {
			return "", refuse(NotOffered, "there is no such option: %s", q.possible())
		}
	}
	switch {
	case len(places) == 0:
		return "", refuse(Empty, "nothing was chosen: %s", q.possible())
	case len(places) > 1 && !q.MultiSelect:
		return "", refuse(NotOffered, "this question takes one option: %s", q.possible())
	}
	return q.checked(places, from)
}

// Several returns the answer that chooses several options, each as it is typed.
func (q Terms) Several(values []string, from Place) (string, error) {
	var places []int
	for _, typed := range values {
		at, err := q.Find(typed)
		switch {
		case err != nil:
			return "", err
		case at < 0:
			return "", refuse(NotOffered, "%q is not one of the options; own words are given as the value, not in values",
				typed)
		case !slices.Contains(places, at):
			places = append(places, at)
		}
	}
	return q.Pick(places, from)
}

// Filled is what was filled in in a form: options by their places, words, and of a denial what is to be done instead.
type Filled struct {
	Places         []int
	Words, Instead string
}

// Fill returns the answer that a filled in form is. Words beside an option are what belongs to it, or a note to
// it, where options take any; a person who gave both elsewhere may have meant either.
func (q Terms) Fill(f Filled, from Place) (string, error) {
	words := strings.TrimSpace(f.Words)
	switch {
	case len(f.Places) == 0 && q.Decides():
		return "", refuse(Empty, "choose one of the options")
	case len(f.Places) == 0:
		return q.Choose(words, from)
	}
	label, err := q.pick(f.Places, from)
	switch {
	case err != nil:
		return "", err
	case q.Decides() && label == Denial("", ""):
		instead := ""
		if kinds[q.Kind].Hands {
			instead = f.Instead
		}
		return q.Choose(Denial(words, instead), from)
	case label == Allow && words != "":
		return "", refuse(NotOffered, "what is written goes with a denial, or is a rule to allow from now on: leave it out "+
			"to allow this once")
	case q.Decides():
		return q.Choose(label+" "+words, from)
	case words == "":
		return q.decided(label, nil)
	case q.Kind == AskBlocker && len(f.Places) == 1:
		return q.Choose(label+": "+words, from)
	case q.TakesNotes():
		return q.fillNote(label, words)
	}
	return "", refuse(NotOffered, "an option is chosen, and there are words of your own: leave one of them out")
}

// Find returns the place of the option that typed text chooses; -1 if it is none. A *Refusal if it fits several.
func (q Terms) Find(typed string) (int, error) {
	for i, o := range q.Options {
		if o.Label == typed && !Blank(o) {
			return i, nil
		}
	}
	return q.one(strings.TrimSpace(text.Clean(typed)))
}

// Typed says what chooses each option when it is typed: whether its label does, as it is, and the number or letter that
// is shown before it; "" where none is. An option that takes more than that to choose has neither.
func (q Terms) Typed() (byLabel []bool, byKey []string) {
	labels := q.Labels()
	byLabel, byKey = make([]bool, len(q.Options)), q.Keys()
	for i, o := range q.Options {
		if Blank(o) || q.MustConfirm(i) {
			byKey[i] = ""
			continue
		}
		meant := q.ReadingsIn(labels, o.Label)
		byLabel[i] = len(meant) == 1 && q.Options[meant[0]].Label == o.Label
	}
	return byLabel, byKey
}

// MaxListed is how many options are listed at once; more are found by what is typed.
const MaxListed = 50

// Keys returns what to show before each option for a person to type: numbers, or letters where a number could also mean
// the start of another label (ports, versions), or none where letters could too. Choose takes every key that is shown;
// it takes the other kind as well, unless that is ambiguous.
func (q Terms) Keys() []string {
	keys := make([]string, len(q.Options))
	// most are not even shown; whoever picks one types more of its label if its number is ambiguous
	if len(keys) > MaxListed {
		for i := range keys {
			keys[i] = numberKey(i)
		}
		return keys
	}
	for _, key := range []func(int) string{numberKey, letterKey} {
		clear := true
		for i, o := range q.Options {
			if Blank(o) {
				continue
			}
			keys[i] = key(i)
			meant := q.Readings(keys[i])
			clear = clear && len(meant) == 1 && q.Options[meant[0]].Label == q.Options[i].Label
		}
		if clear {
			return keys
		}
	}
	return make([]string, len(q.Options))
}

func numberKey(i int) string { return strconv.Itoa(i + 1) }

func letterKey(i int) string {
	if i >= 26 {
		return ""
	}
	return string(rune('a' + i))
}
