package terminal

import "strings"

// This file is for a form that is not drawn here, as on a page: its options are chosen by their places.

// Pick turns chosen options, by their places from 0, into the answer that is stored, or returns a *Refusal, as Choose
// does for what was typed.
func Pick(q Question, places []int, dir string) (string, error) {
	for _, at := range places {
		if at < 0 || at >= len(q.Options) || q.Options[at].blank() {
			return "", refuse(NotOffered, "there is no such option: %s", q.possible())
		}
	}
	switch {
	case len(places) == 0:
		return "", refuse(Empty, "nothing was chosen: %s", q.possible())
	case len(places) > 1 && !q.MultiSelect:
		return "", refuse(NotOffered, "this question takes one option: %s", q.possible())
	}
	return q.checked(places, dir)
}

// Find gives the place of the option that typed text chooses; -1 if it is none. A *Refusal if it fits several.
func Find(q Question, typed string) (int, error) {
	for i, o := range q.Options {
		if o.Label == typed && !o.blank() {
			return i, nil
		}
	}
	return q.one(strings.TrimSpace(Clean(typed)))
}

// Seen gives one of the question's texts as it is safe to show: of evidence with all that cannot be seen made visible,
// of talk without that.
func (q Question) Seen(s string) string { return q.seen(s) }

// Evidence reports whether the question's texts are what a person permits.
func (q Question) Evidence() bool { return q.evidence() }

// Decides reports whether the answer is one of the options with what belongs to it behind it, and never words alone.
func (q Question) Decides() bool { return q.decides() }

// Rule says what own words have to be; "" for anything.
func (q Question) Rule() string { return q.rule() }
