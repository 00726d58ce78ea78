package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Reason is why typed text is no answer.
type Reason string

// The reasons of a Refusal.
const (
	Empty      Reason = "empty"       // nothing was typed
	TooLong    Reason = "too_long"    // more than maxText bytes
	Ambiguous  Reason = "ambiguous"   // it fits several options
	NotOffered Reason = "not_offered" // it is none of the options, and has to be
	Invalid    Reason = "invalid"     // the question's validate forbids it
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
// The answer is a label exactly as the agent gave it, or the typed text made safe by Clean. Paths are looked up
// relative to dir; that apart, Choose is pure.
func Choose(q Question, typed, dir string) (string, error) {
	if len(typed) > maxText {
		return "", refuse(TooLong, "the answer is longer than %d KiB: put it into a file and name the file instead",
			maxText>>10)
	}
	text := strings.TrimSpace(Clean(typed))
	own, quoted := unquote(text)
	if own == "" {
		return "", refuse(Empty, "nothing was typed: %s", q.possible())
	}
	if quoted {
		if i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Label == own }); i >= 0 {
			return q.checked([]int{i}, dir)
		}
		return own, q.check(own, dir)
	}
	switch picked, err := q.pick(text); {
	case err != nil:
		return "", err
	case len(picked) == 1 && q.mustConfirm(picked[0]) && !q.confirms(text):
		return "", refuse(NotOffered, "%s runs no command: %s", show(text), q.possible())
	case len(picked) > 0:
		return q.checked(picked, dir)
	}
	if q.decides() {
		return q.decide(text)
	}
	if at, words := q.withWords(text); at >= 0 {
		return q.wordsTo(at, text, words)
	}
	if q.Validate == "" && len(q.Options) > 0 && q.looksLikeKey(text) {
		return "", refuse(NotOffered, "%s is not one of the options: %s", show(text), q.possible())
	}
	if q.Validate == "yes_no" {
		text = yesNo(text)
	}
	return text, q.check(text, dir)
}

// withWords takes apart an answer to a stop, or to work that takes too long, that is an option with words beside it,
// as in "2: skip the vendored folder", "2 skip the vendored folder" and "b: skip it". at is -1 if it is none.
func (q Question) withWords(text string) (at int, words string) {
	if q.Kind != "blocker" && q.Kind != "overrun" {
		return -1, ""
	}
	mark := strings.IndexFunc(text, func(r rune) bool { return r == ':' || unicode.IsSpace(r) })
	if mark < 0 {
		return -1, ""
	}
	at, ok := q.key(text[:mark])
	number := text[0] >= '0' && text[0] <= '9'
	if words = strings.TrimSpace(text[mark+1:]); !ok || at >= len(q.Options) || q.Options[at].blank() || words == "" ||
		!number && text[mark] != ':' { // "a word" begins a sentence
		return -1, ""
	}
	return at, words
}

// wordsTo puts words beside an option. One that runs a command or ends the agent takes none: they may have been meant
// as an answer of their own.
func (q Question) wordsTo(at int, text, words string) (string, error) {
	label := q.Options[at].Label
	if folded := fold(label); folded == "give up" || strings.HasPrefix(folded, runWord+":") {
		return "", refuse(NotOffered, "%s takes no words beside it: type %d alone; to send %s as text, put \"\"\" around it",
			show(label), at+1, show(text))
	}
	return label + ": " + strings.TrimLeft(words, ": "), nil
}

// unquote takes the text between triple quotes, which is meant as written.
func unquote(text string) (string, bool) {
	if len(text) < 6 || !strings.HasPrefix(text, quotes) || !strings.HasSuffix(text, quotes) {
		return text, false
	}
	return strings.TrimSpace(text[3 : len(text)-3]), true
}

// maxParts bounds the work on one answer: with more commas than this it is the person's own words.
const maxParts = 256

// pick gives the options that text chooses, in the order they were typed; none if it is the person's own words.
func (q Question) pick(text string) ([]int, error) {
	one, err := q.one(text)
	switch {
	case one >= 0:
		return []int{one}, nil
	case err != nil:
		return nil, err
	case !q.MultiSelect && q.numbers(text):
		return nil, refuse(NotOffered, "%s names several options, and this question takes one: %s", show(text),
			q.possible())
	case !q.MultiSelect:
		return nil, nil
	case !strings.Contains(text, ","):
		picked := q.words(text)
		if len(picked) == 0 && q.numbers(text) {
			return nil, refuse(NotOffered, "%s names no options: %s", show(text), q.possible())
		}
		return picked, nil
	}
	var picked []int
	var strange []string
	parts := strings.Split(text, ",")
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
	if len(strange) > 0 && (len(picked) > 0 || q.numbers(text)) {
		return nil, refuse(NotOffered, "%s is not one of the options: %s", show(strange[0]), q.possible())
	}
	return picked, nil
}

// words gives the options that the words of text are; none unless each is one, for it may be the person's own text.
func (q Question) words(text string) []int {
	words := strings.Fields(text)
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
func (q Question) numbers(text string) bool {
	list := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	return len(q.Options) > 0 && len(list) > 1 && !slices.ContainsFunc(list, func(number string) bool {
		at, ok := q.key(number)
		_, err := strconv.Atoi(number)
		return err != nil || !ok || at >= len(q.Options) && !q.looksLikeKey(number)
	})
}

// longest finds how many of the parts make up a whole label, for labels that hold commas themselves.
func (q Question) longest(parts []string) (n, at int) {
	for n := min(len(parts), 16); n > 1; n-- {
		if at := q.exact(strings.Join(parts[:n], ",")); len(at) == 1 {
			return n, at[0]
		}
	}
	return 1, -1
}

// one gives the option that text chooses, or -1.
func (q Question) one(text string) (int, error) {
	meant := q.readings(text)
	if len(meant) == 0 {
		return -1, nil
	}
	if len(meant) > 1 {
		labels, keys := make([]string, min(len(meant), 9)), keys(q)
		for i, at := range meant[:len(labels)] {
			if labels[i] = show(q.Options[at].Label); keys[at] != "" {
				labels[i] += " (" + keys[at] + ")"
			}
		}
		return -1, refuse(Ambiguous, "%s could mean %s: type more of the label", show(text), enumerate(labels, "or"))
	}
	return meant[0], nil
}

// A label is that of an option as it is compared: as a line, and folded. To make one reads all of it.
type label struct{ line, folded string }

func (q Question) labels() []label {
	labels := make([]label, len(q.Options))
	for i, o := range q.Options {
		line := CleanLine(o.Label, 0)
		labels[i] = label{line, fold(line)}
	}
	return labels
}

// readings are the options that text may mean: the one of that very label, or else all that it is a key or a start of.
// Options of the same label count as one, and one without a label cannot be chosen: no answer would be left.
func (q Question) readings(text string) []int { return q.readingsIn(q.labels(), text) }

func (q Question) readingsIn(labels []label, text string) []int {
	if at := q.exactIn(labels, text); len(at) > 0 {
		return at
	}
	var meant []int
	if at, ok := q.key(text); ok && at < len(q.Options) && !q.Options[at].blank() {
		meant = append(meant, at)
	}
	if start := fold(text); start != "" {
		for i, label := range labels {
			if strings.HasPrefix(label.folded, start) {
				meant = append(meant, i)
			}
		}
	}
	return q.distinct(meant)
}

func (q Question) exact(text string) []int { return q.exactIn(q.labels(), text) }

func (q Question) exactIn(labels []label, text string) []int {
	var same, folded []int
	line := CleanLine(text, 0)
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

func (q Question) distinct(options []int) []int {
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
func (q Question) key(text string) (at int, ok bool) {
	text = strings.TrimRight(strings.TrimPrefix(text, "("), ").")
	if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text && n > 0 {
		return n - 1, q.Validate != "integer"
	}
	if len(text) == 1 {
		if c := text[0] | 0x20; c >= 'a' && c <= 'z' {
			return int(c - 'a'), true
		}
	}
	return 0, false
}

// looksLikeKey tells a slip of the finger from words: a number or a letter that no option has. Beside options that are
// numbers themselves a number is words.
func (q Question) looksLikeKey(text string) bool {
	_, isKey := q.key(text)
	if !isKey {
		return false
	}
	isNumber := strings.ContainsAny(text, "0123456789")
	return !isNumber || !slices.ContainsFunc(q.Options, func(o Option) bool {
		label := CleanLine(o.Label, 0)
		return label != "" && label[0] >= '0' && label[0] <= '9'
	})
}

// runWord is what a person types to have a command run: no key and no Enter does.
const runWord = "run"

// mustConfirm reports whether an option runs a command.
func (q Question) mustConfirm(at int) bool {
	return q.Kind == "command" && at >= 0 && strings.HasPrefix(fold(q.Options[at].Label), runWord)
}

// confirms reports whether text lets a command run: the word run, or the whole label of the option.
func (q Question) confirms(text string) bool {
	return q.Kind == "command" && (fold(text) == runWord || slices.ContainsFunc(q.exact(text), q.mustConfirm))
}

// guarded reports whether an answer permits something: no option of such a question is selected until a person has done
// so.
func (q Question) guarded() bool { return q.Kind == "command" || q.decides() }

// decides reports whether the answer is one of the supervisor's own decisions, with an argument.
func (q Question) decides() bool {
	switch q.Kind {
	case "permission", "delegation", "budget":
		return len(q.Options) > 0
	}
	return false
}

func (q Question) decide(text string) (string, error) {
	word := strings.Fields(text)[0]
	rest := strings.TrimSpace(text[len(word):])
	word = strings.TrimRight(word, ":,;") // "deny: too risky", as our own texts put it
	at, err := q.one(word)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", refuse(NotOffered, "%s is not one of the decisions: %s", show(word), q.possible())
	}
	return strings.TrimSpace(q.Options[at].Label + " " + rest), nil
}

func (q Question) checked(picked []int, dir string) (string, error) {
	labels := make([]string, len(picked))
	for i, at := range picked {
		labels[i] = q.Options[at].Label
		if q.Validate == "path" { // an offered path need not exist; every other rule yields to what was offered
			if err := q.check(labels[i], dir); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(labels, ", "), nil
}

// possible says what can be typed.
func (q Question) possible() string {
	if len(q.Options) == 0 {
		if rule := q.rule(); rule != "" {
			return "type " + rule
		}
		return "type the answer in your own words"
	}
	keys, labels := keys(q), make([]string, 0, 10)
	for i, o := range q.Options {
		switch {
		case o.blank():
		case q.mustConfirm(i):
			labels = append(labels, "the word run to run it")
		case len(labels) == 9:
			labels = append(labels, "one of the others")
		case len(labels) < 9 && keys[i] == "":
			labels = append(labels, show(o.Label))
		case len(labels) < 9:
			labels = append(labels, keys[i]+" for "+show(o.Label))
		}
	}
	say := "type " + enumerate(labels, "or")
	if q.MultiSelect {
		say += " (several with commas)"
	}
	switch {
	case q.decides(), q.Validate == "choice":
	case q.rule() != "":
		say += ", or " + q.rule()
	default:
		say += `; to send it as text, put """ around it`
	}
	return say
}

// show puts a text that a person did not choose into a message.
func show(s string) string { return `"` + CleanLine(s, 40) + `"` }

func enumerate(items []string, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	end := len(items) - 1
	return strings.Join(items[:end], ", ") + " " + last + " " + items[end]
}

func fold(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(CleanLine(s, 0)), " "))
}
