package questions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"claude-supervise/supervisor/text"
)

// Reason is why typed text is no answer.
type Reason string

// The reasons of a Refusal.
const (
	Empty      Reason = "empty"       // nothing was typed
	TooLong    Reason = "too_long"    // more than text.MaxClean bytes
	Ambiguous  Reason = "ambiguous"   // it fits several options
	NotOffered Reason = "not_offered" // it is none of the options, and has to be
	Invalid    Reason = "invalid"     // the question's validate forbids it
	Undecided  Reason = "undecided"   // what it decides cannot be carried out
)

// A Refusal says why typed text is no answer. The question stays open.
type Refusal struct {
	Reason  Reason
	Message string // for the person: what happened, and what is possible
}

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

func refuse(why Reason, format string, args ...any) error {
	return &Refusal{Reason: why, Message: fmt.Sprintf(format, args...)}
}

// Choose turns what a person typed into the answer that is stored, or returns a *Refusal.
//
// An option is chosen by its number, its letter, its label, or a start of its label, in any case; several by commas, or
// by blanks where each word is one, where the question is multi-select, stored as their labels joined by ", ". Where it
// is not, several numbers are refused. The exact label is always that option; otherwise text that could mean two
// options is refused, never guessed: "a" is refused where option a is "Continue" and another is "Abort". Other text is
// the person's own words, unless validate forbids it, or it looks like a key that no option has. Text between """ is
// the person's own words whatever it looks like. To a stop, words may stand beside a number: "2: skip the vendored
// folder". For permission, delegation and budget questions the first word
// chooses, and the rest is its argument ("deny too risky").
//
// The answer is a label exactly as the agent gave it, or the typed text made safe by text.Clean.
func (q Terms) Choose(typed string, at Place) (string, error) {
	return q.decided(q.choose(typed, at))
}

// decided holds an answer against what it decides.
func (q Terms) decided(answer string, err error) (string, error) {
	if err == nil && q.check != nil {
		err = q.check(answer)
	}
	if err != nil {
		return "", err
	}
	return answer, nil
}

func (q Terms) choose(typed string, at Place) (string, error) {
	if len(typed) > text.MaxClean {
		return "", refuse(TooLong, "the answer is longer than %d KiB: put it into a file and name the file instead",
			text.MaxClean>>10)
	}
	said := strings.TrimSpace(text.Clean(typed))
	if answer, ok := q.accepts(said); ok {
		return answer, nil
	}
	own, quoted := unquote(said)
	if own == "" {
		return "", refuse(Empty, "nothing was typed: %s", q.possible())
	}
	if quoted {
		if i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Label == own }); i >= 0 {
			return q.checked([]int{i}, at)
		}
		return own, q.fits(own, at)
	}
	if answer, ok := q.withNote(said); ok {
		return answer, nil
	}
	switch picked, err := q.Named(said); {
	case err != nil:
		return "", err
	case len(picked) == 1 && q.MustConfirm(picked[0]) && !q.Confirms(said):
		return "", refuse(NotOffered, "%s runs no command: %s", Show(said), q.possible())
	case len(picked) > 0:
		return q.checked(picked, at)
	}
	if q.Decides() {
		return q.decide(said)
	}
	if i, words := q.withWords(said); i >= 0 {
		return q.wordsTo(i, said, words)
	}
	if q.Validate == "" && len(q.Options) > 0 && q.looksLikeKey(said) {
		return "", refuse(NotOffered, "%s is not one of the options: %s", Show(said), q.possible())
	}
	if q.Validate == "yes_no" {
		said = yesNo(said)
	}
	return said, q.fits(said, at)
}

// withWords takes apart an answer to a stop, or to work that takes too long, that is an option with words beside it,
// as in "2: skip the vendored folder", "2 skip the vendored folder" and "b: skip it". at is -1 if it is none.
func (q Terms) withWords(said string) (at int, words string) {
	if !kinds[q.Kind].Beside {
		return -1, ""
	}
	mark := strings.IndexFunc(said, func(r rune) bool { return r == ':' || unicode.IsSpace(r) })
	if mark < 0 {
		return -1, ""
	}
	at, ok := q.key(said[:mark])
	number := said[0] >= '0' && said[0] <= '9'
	if words = strings.TrimSpace(said[mark+1:]); !ok || at >= len(q.Options) || Blank(q.Options[at]) || words == "" ||
		!number && said[mark] != ':' { // "a word" begins a sentence
		return -1, ""
	}
	return at, words
}

// wordsTo puts words beside an option. One that runs a command or ends the agent takes none: they may have been meant
// as an answer of their own.
func (q Terms) wordsTo(at int, said, words string) (string, error) {
	label := q.Options[at].Label
	if folded := Fold(label); folded == GiveUp || strings.HasPrefix(folded, RunCommand+":") {
		return "", refuse(NotOffered, "%s takes no words beside it: type %d alone; to send %s as text, put \"\"\" around it",
			Show(label), at+1, Show(said))
	}
	return label + ": " + strings.TrimLeft(words, ": "), nil
}

// unquote takes the text between triple quotes, which is meant as written.
func unquote(said string) (string, bool) {
	if len(said) < 6 || !strings.HasPrefix(said, quotes) || !strings.HasSuffix(said, quotes) {
		return said, false
	}
	return strings.TrimSpace(said[3 : len(said)-3]), true
}

// maxParts bounds the work on one answer: with more commas than this it is the person's own words.
const maxParts = 256

// Named returns the options that text chooses, in the order they were typed; none if it is the person's own words.
func (q Terms) Named(said string) ([]int, error) {
	one, err := q.one(said)
	switch {
	case one >= 0:
		return []int{one}, nil
	case err != nil:
		return nil, err
	case !q.MultiSelect && q.numbers(said):
		return nil, refuse(NotOffered, "%s names several options, and this question takes one: %s", Show(said),
			q.possible())
	case !q.MultiSelect:
		return nil, nil
	case !strings.Contains(said, ","):
		picked := q.words(said)
		if len(picked) == 0 && q.numbers(said) {
			return nil, refuse(NotOffered, "%s names no options: %s", Show(said), q.possible())
		}
		return picked, nil
	}
	var picked []int
	var strange []string
	parts := strings.Split(said, ",")
	if len(parts) > maxParts {
		return nil, nil
	}
	for len(parts) > 0 {
		n, at := q.longest(parts)
		part := strings.TrimSpace(strings.Join(parts[:n], ","))
		parts = parts[n:]
		if at < 0 && part != "" {
			if at, err = q.one(part); err != nil {
				return nil, err
			}
		}
		switch {
		case at >= 0 && !slices.Contains(picked, at):
			picked = append(picked, at)
		case at < 0 && part != "":
			strange = append(strange, part)
		}
	}
	if len(strange) > 0 && (len(picked) > 0 || q.numbers(said)) {
		return nil, refuse(NotOffered, "%s is not one of the options: %s", Show(strange[0]), q.possible())
	}
	return picked, nil
}

// words returns the options that the words of text are; none unless each is one, for it may be the person's own text.
func (q Terms) words(said string) []int {
	words := strings.Fields(said)
	if len(words) > maxParts {
		return nil
	}
	var picked []int
	for _, word := range words {
		at, err := q.one(word)
		if err != nil || at < 0 {
			return nil
		}
		if !slices.Contains(picked, at) {
			picked = append(picked, at)
		}
	}
	return picked
}

// numbers reports whether text is a list of numbers alone, as "1,3" and "1 3", which is a choice of several options, or
// a slip of the finger; where an option begins with a digit, or an integer is asked for, it may be a value.
func (q Terms) numbers(said string) bool {
	list := strings.FieldsFunc(said, func(r rune) bool { return r == ',' || r == ' ' })
	return len(q.Options) > 0 && len(list) > 1 && !slices.ContainsFunc(list, func(number string) bool {
		at, ok := q.key(number)
		_, err := strconv.Atoi(number)
		return err != nil || !ok || at >= len(q.Options) && !q.looksLikeKey(number)
	})
}

// longest finds how many of the parts make up a whole label, for labels that hold commas themselves.
func (q Terms) longest(parts []string) (n, at int) {
	for n := min(len(parts), 16); n > 1; n-- {
		if at := q.exact(strings.Join(parts[:n], ",")); len(at) == 1 {
			return n, at[0]
		}
	}
	return 1, -1
}

// one returns the option that text chooses, or -1.
func (q Terms) one(said string) (int, error) {
	meant := q.Readings(said)
	if len(meant) == 0 {
		return -1, nil
	}
	if len(meant) > 1 {
		labels, keys := make([]string, min(len(meant), 9)), q.Keys()
		for i, at := range meant[:len(labels)] {
			if labels[i] = Show(q.Options[at].Label); keys[at] != "" {
				labels[i] += " (" + keys[at] + ")"
			}
		}
		return -1, refuse(Ambiguous, "%s could mean %s: type more of the label", Show(said), enumerate(labels, "or"))
	}
	return meant[0], nil
}

// A Label is that of an option as it is compared: as a line, and folded. To make one reads all of it.
type Label struct{ line, folded string }

// Labels returns those of the options.
func (q Terms) Labels() []Label {
	labels := make([]Label, len(q.Options))
	for i, o := range q.Options {
		line := text.CleanLine(o.Label, 0)
		labels[i] = Label{line, Fold(line)}
	}
	return labels
}

// Readings are the options that text may mean: the one of that very label, or else all that it is a key or a start of.
// Options of the same label count as one, and one without a label cannot be chosen: no answer would be left.
func (q Terms) Readings(said string) []int { return q.ReadingsIn(q.Labels(), said) }

// ReadingsIn is Readings among labels that were made before.
func (q Terms) ReadingsIn(labels []Label, said string) []int {
	if at := q.exactIn(labels, said); len(at) > 0 {
		return at
	}
	var meant []int
	if at, ok := q.key(said); ok && at < len(q.Options) && !Blank(q.Options[at]) {
		meant = append(meant, at)
	}
	if start := Fold(said); start != "" {
		for i, label := range labels {
			if strings.HasPrefix(label.folded, start) {
				meant = append(meant, i)
			}
		}
	}
	return q.distinct(meant)
}

func (q Terms) exact(said string) []int { return q.exactIn(q.Labels(), said) }

func (q Terms) exactIn(labels []Label, said string) []int {
	var same, folded []int
	line := text.CleanLine(said, 0)
	for i, label := range labels {
		switch {
		case label.line == "":
		case label.line == line:
			same = append(same, i)
		case strings.EqualFold(label.line, line):
			folded = append(folded, i)
		}
	}
	if len(same) > 0 {
		return q.distinct(same)
	}
	return q.distinct(folded)
}

func (q Terms) distinct(options []int) []int {
	var kept []int
	for _, at := range options {
		if !slices.ContainsFunc(kept, func(k int) bool { return q.Options[k].Label == q.Options[at].Label }) {
			kept = append(kept, at)
		}
	}
	return kept
}

// key reads text as the number or letter of an option, which need not exist: "2", "2)", "(b)", "B.". Where an integer
// is asked for, a number is a value.
func (q Terms) key(said string) (at int, ok bool) {
	said = strings.TrimRight(strings.TrimPrefix(said, "("), ").")
	if n, err := strconv.Atoi(said); err == nil && strconv.Itoa(n) == said && n > 0 {
		return n - 1, !q.number()
	}
	if len(said) == 1 {
		if c := said[0] | 0x20; c >= 'a' && c <= 'z' {
			return int(c - 'a'), true
		}
	}
	return 0, false
}

// looksLikeKey tells a slip of the finger from words: a number or a letter that no option has. Beside options that are
// numbers themselves a number is words.
func (q Terms) looksLikeKey(said string) bool {
	_, isKey := q.key(said)
	if !isKey {
		return false
	}
	isNumber := strings.ContainsAny(said, "0123456789")
	return !isNumber || !slices.ContainsFunc(q.Options, func(o Option) bool {
		label := text.CleanLine(o.Label, 0)
		return label != "" && label[0] >= '0' && label[0] <= '9'
	})
}

const quotes = `"""`

// MustConfirm reports whether an option runs a command: no key and no Enter chooses it.
func (q Terms) MustConfirm(at int) bool {
	return kinds[q.Kind].Runs && at >= 0 && strings.HasPrefix(Fold(q.Options[at].Label), RunCommand)
}

// Confirms reports whether text lets a command run: the word run, or the whole label of the option.
func (q Terms) Confirms(said string) bool {
	return kinds[q.Kind].Runs && (Fold(said) == RunCommand || slices.ContainsFunc(q.exact(said), q.MustConfirm))
}

// Guarded reports whether an answer permits something: no option of such a question is selected until a person has done
// so.
func (q Terms) Guarded() bool {
	return kinds[q.Kind].Lets && (kinds[q.Kind].Runs || len(q.Options) > 0)
}

// Evidence reports whether the question's texts are what a person permits, and not only what an agent says.
func (q Terms) Evidence() bool { return kinds[q.Kind].Evidence }

// Decides reports whether the answer is one of the supervisor's own decisions, with an argument.
func (q Terms) Decides() bool { return kinds[q.Kind].Decides && len(q.Options) > 0 }

func (q Terms) decide(said string) (string, error) {
	word := strings.Fields(said)[0]
	rest := strings.TrimSpace(said[len(word):])
	word = strings.TrimRight(word, ":,;") // "deny: too risky", as our own texts put it
	at, err := q.one(word)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", refuse(NotOffered, "%s is not one of the decisions: %s", Show(word), q.possible())
	}
	return strings.TrimSpace(q.Options[at].Label + " " + rest), nil
}

func (q Terms) checked(picked []int, from Place) (string, error) {
	labels := make([]string, len(picked))
	for i, at := range picked {
		labels[i] = q.Options[at].Label
		if q.Validate == "path" { // an offered path need not exist; every other rule yields to what was offered
			if err := q.fits(labels[i], from); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(labels, ", "), nil
}

// possible says what can be typed.
func (q Terms) possible() string {
	if len(q.Options) == 0 {
		if rule := q.Rule(); rule != "" {
			return "type " + rule
		}
		return "type the answer in your own words"
	}
	keys, labels := q.Keys(), make([]string, 0, 10)
	for i, o := range q.Options {
		switch {
		case Blank(o):
		case q.MustConfirm(i):
			labels = append(labels, "the word run to run it")
		case len(labels) == 9:
			labels = append(labels, "one of the others")
		case len(labels) < 9 && keys[i] == "":
			labels = append(labels, Show(o.Label))
		case len(labels) < 9:
			labels = append(labels, keys[i]+" for "+Show(o.Label))
		}
	}
	say := "type " + enumerate(labels, "or")
	if q.MultiSelect {
		say += " (several with commas)"
	}
	switch {
	case q.Decides(), q.Validate == "choice":
	case q.Rule() != "":
		say += ", or " + q.Rule()
	default:
		say += `; to send it as text, put """ around it`
	}
	return say
}

// Show puts a text that a person did not choose into a message.
func Show(s string) string { return `"` + text.CleanLine(s, 40) + `"` }

func enumerate(items []string, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	end := len(items) - 1
	return strings.Join(items[:end], ", ") + " " + last + " " + items[end]
}

// Fold returns a text as labels are compared: on one line, in small letters.
func Fold(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(text.CleanLine(s, 0)), " "))
}
