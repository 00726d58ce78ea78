package taskfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/rules"
)

// Parse reads a task file. Its error is an *Invalid with all that is wrong with it.
func Parse(text []byte) (File, error) {
	var f File
	r := reader{}
	if doc := r.document(text); doc != nil {
		readKeys(&r, "a task file", doc, keys, &f)
		r.arrange()
		r.whole(doc, f)
	}
	if r.lost {
		r.problem(&yaml.Node{}, "`claude-supervise run --help` lists the keys that there are")
	}
	return f, r.err()
}

// ParseAnswers reads a file of answers given in advance, KEY: VALUE. Its error is an *Invalid.
func ParseAnswers(text []byte) ([]supervisor.Preset, error) {
	var answers []supervisor.Preset
	r := reader{}
	if doc := r.document(text); doc != nil {
		answers = r.answers("a file of answers", doc)
	}
	return answers, r.err()
}

// A reader takes values out of YAML nodes and keeps what is wrong with them. Nodes are looked at where they stand:
// aliases are not followed, so nothing grows.
type reader struct {
	problems []Problem
	lost     bool     // a key was not even nearly one
	stated   []stated // the children, each after the one that it stands below
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Invalid{Problems: r.problems}
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: n.Line, Text: fmt.Sprintf(format, args...)})
}

// refuse keeps what is wrong with the value of a key, if anything is.
func (r *reader) refuse(n *yaml.Node, name string, wrong error) {
	if wrong != nil {
		r.problem(n, "%s %v", name, wrong)
	}
}

// document reads the one document of a file; nil if there is none.
func (r *reader) document(text []byte) *yaml.Node {
	if !utf8.Valid(text) {
		r.problem(&yaml.Node{}, "it is not UTF-8 text")
		return nil
	}
	load, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.problem(&yaml.Node{}, "%v", err)
		return nil
	}
	var doc, second yaml.Node
	err = load.Load(&doc)
	if malformed := new(yaml.LoadError); errors.As(err, &malformed) {
		r.problem(&yaml.Node{Line: malformed.Mark.Line}, "it is no YAML: %s", malformed.Message)
		return nil
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.problem(&yaml.Node{}, "it is empty")
		return nil
	case err != nil:
		r.problem(&yaml.Node{}, "it is no YAML: %v", err)
		return nil
	}
	if err := load.Load(&second); !errors.Is(err, io.EOF) {
		r.problem(&second, "it goes on after its end: a file holds one document")
	}
	return doc.Content[0]
}

// pairs goes through a map whose keys are texts, each there once.
func (r *reader) pairs(what string, n *yaml.Node, pair func(k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.problem(n, "%s holds a map, KEY: VALUE, not %s", what, kind(n))
		return
	}
	first := map[string]int{} // line by key
	for i := 0; i+1 < len(n.Content) && len(r.problems) <= maxTold; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		line, again := first[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode || strings.TrimSpace(k.Value) == "":
			r.problem(k, "a key is text, not %s", kind(k))
		case again:
			r.problem(k, "%s is there twice; the first is in line %d", quoted(k.Value), line)
		default:
			first[k.Value] = k.Line
			pair(k, v)
		}
	}
}

// text reads a text that says something.
func (r *reader) text(name string, n *yaml.Node) string {
	switch tag := n.ShortTag(); {
	case n.Kind != yaml.ScalarNode, tag == "!!null", tag != "!!str" && tag != "!!timestamp" && !plain(tag):
		r.problem(n, "%s takes text, not %s", name, kind(n))
	case plain(tag):
		r.problem(n, "%s takes text; put %s in quotes", name, quoted(n.Value))
	case strings.TrimSpace(n.Value) == "":
		r.problem(n, "%s is empty", name)
	default:
		return n.Value
	}
	return ""
}

// plain reports whether a value is a number or a truth value: text, but for its quotes.
func plain(tag string) bool { return tag == "!!int" || tag == "!!float" || tag == "!!bool" }

// line reads a text of one line, without anything that a terminal would obey.
func (r *reader) line(name string, n *yaml.Node) string {
	text := r.text(name, n)
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.problem(n, "%s takes one line of text", name)
		return ""
	}
	return strings.TrimSpace(text)
}

// list reads a list of what item reads.
func (r *reader) list(name string, n *yaml.Node, item func(string, *yaml.Node) string) []string {
	if n.Kind != yaml.SequenceNode {
		r.problem(n, "%s takes a list, each entry on a line after \"- \", not %s", name, kind(n))
		return nil
	}
	var items []string
	for i, v := range n.Content {
		if len(r.problems) > maxTold {
			break
		}
		items = append(items, item(fmt.Sprintf("entry %d of %s", i+1, name), v))
	}
	return items
}

// rule reads a rule of what runs.
func (r *reader) rule(name string, n *yaml.Node) string {
	text := r.line(name, n)
	if text == "" {
		return "" // told of already
	}
	rule, err := rules.Parse(text)
	r.refuse(n, name, err)
	return rule.String()
}

// oneOf reads a word, one of a few.
func (r *reader) oneOf(name string, n *yaml.Node, words ...string) string {
	word := r.line(name, n)
	if word != "" && !slices.Contains(words, word) {
		r.problem(n, "%s takes %s, not %s", name, alternatives(words), quoted(word))
		return ""
	}
	return word
}

// alternatives lists words of which one is meant.
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// duration reads how long something may take; 0 is without end.
func (r *reader) duration(name string, n *yaml.Node) time.Duration {
	text := r.line(name, n)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		r.problem(n, "%s takes a duration such as 90s, 10m or 2h, not %s", name, quoted(text))
		return 0
	}
	return d
}

// amount reads a number above 0.
func (r *reader) amount(name string, n *yaml.Node) float64 {
	amount, err := strconv.ParseFloat(n.Value, 64)
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || err != nil || !(amount > 0) || math.IsInf(amount, 0) {
		r.problem(n, "%s takes a number above 0, not %s", name, shown(n))
		return 0
	}
	return amount
}

// tokens reads a number of tokens, 2000000 or 2M.
func (r *reader) tokens(name string, n *yaml.Node) int64 {
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!str" {
		r.problem(n, "%s takes a number of tokens such as 200000, 200k or 1.5M, not %s", name, shown(n))
		return 0
	}
	tokens, err := supervisor.ParseTokens(n.Value)
	r.refuse(n, name, err)
	return tokens
}

// truth reads true or false.
func (r *reader) truth(name string, n *yaml.Node) bool {
	if n.ShortTag() != "!!bool" {
		r.problem(n, "%s takes true or false, not %s", name, shown(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// count reads a whole number from 1.
func (r *reader) count(name string, n *yaml.Node) int {
	count, err := strconv.Atoi(n.Value)
	if n.ShortTag() != "!!int" || err != nil || count < 1 {
		r.problem(n, "%s takes a whole number from 1, not %s", name, shown(n))
		return 0
	}
	return count
}

// answers reads a map of answers. Numbers and truth values are answers as they are written.
func (r *reader) answers(what string, n *yaml.Node) []supervisor.Preset {
	var answers []supervisor.Preset
	r.pairs(what, n, func(k, v *yaml.Node) {
		tag := v.ShortTag()
		if v.Kind != yaml.ScalarNode || strings.TrimSpace(v.Value) == "" || tag != "!!str" && tag != "!!timestamp" &&
			!plain(tag) {
			r.problem(v, "the answer to %s must be text", quoted(k.Value))
			return
		}
		answers = append(answers, supervisor.Preset{Key: strings.TrimSpace(k.Value), Value: v.Value})
	})
	return answers
}

// kind names what a node is, for people.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (*" + n.Value + "): write it out"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	default:
		return "what " + tag + " marks"
	}
}

// shown gives a value as it is written, if it is short, else what it is.
func shown(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		return quoted(n.Value)
	}
	return kind(n)
}

// maxQuoted bounds what of a file is repeated in a message, in characters.
const maxQuoted = 40

func quoted(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		text = string(runes[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
