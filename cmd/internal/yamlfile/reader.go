package yamlfile

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
)

// A Reader takes values out of YAML nodes and keeps what is wrong with them. Nodes are looked at where they stand:
// aliases are not followed, so nothing grows. The zero value is ready. A method returns the zero value for what cannot
// be read.
type Reader struct {
	Problems []Problem
	Lost     bool // a key was not even nearly one
}

// Err returns what is wrong as an *Invalid; nil if nothing is.
func (r *Reader) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return &Invalid{Problems: r.Problems}
}

// Problem keeps what is wrong with a node.
func (r *Reader) Problem(n *yaml.Node, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Line: n.Line, Text: fmt.Sprintf(format, args...)})
}

// Refuse keeps what is wrong with the value of a key, if anything is.
func (r *Reader) Refuse(n *yaml.Node, name string, wrong error) {
	if wrong != nil {
		r.Problem(n, "%s %v", name, wrong)
	}
}

// Document reads the one document of a file, which must have one; nil if it has none.
func (r *Reader) Document(text []byte) *yaml.Node {
	doc := r.Optional(text)
	if doc == nil && len(r.Problems) == 0 {
		r.Problem(&yaml.Node{}, "it is empty")
	}
	return doc
}

// Optional reads the one document of a file; nil if it has none.
func (r *Reader) Optional(text []byte) *yaml.Node {
	if !utf8.Valid(text) {
		r.Problem(&yaml.Node{}, "it is not UTF-8 text")
		return nil
	}
	load, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.Problem(&yaml.Node{}, "%v", err)
		return nil
	}
	var doc, second yaml.Node
	err = load.Load(&doc)
	if malformed := new(yaml.LoadError); errors.As(err, &malformed) {
		r.Problem(&yaml.Node{Line: malformed.Mark.Line}, "it is not YAML: %s", malformed.Message)
		return nil
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil
	case err != nil:
		r.Problem(&yaml.Node{}, "it is not YAML: %v", err)
		return nil
	}
	if err := load.Load(&second); !errors.Is(err, io.EOF) {
		r.Problem(&second, "there is more after its end: a file holds one document")
	}
	return doc.Content[0]
}

// Pairs goes through a map whose keys are texts, each there once.
func (r *Reader) Pairs(what string, n *yaml.Node, pair func(k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.Problem(n, "%s holds a map, KEY: VALUE, not %s", what, Kind(n))
		return
	}
	first := map[string]int{} // line by key
	for i := 0; i+1 < len(n.Content) && len(r.Problems) <= MaxTold; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		line, again := first[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode || strings.TrimSpace(k.Value) == "":
			r.Problem(k, "a key is text, not %s", Kind(k))
		case again:
			r.Problem(k, "%s is there twice; the first is in line %d", Quoted(k.Value), line)
		default:
			first[k.Value] = k.Line
			pair(k, v)
		}
	}
}

// Unknown keeps that there is no such key, with the one of names that was probably meant.
func (r *Reader) Unknown(k *yaml.Node, names []string) {
	if near := Nearest(k.Value, names); near != "" {
		r.Problem(k, "there is no key %s; did you mean %s?", Quoted(k.Value), near)
		return
	}
	r.Problem(k, "there is no key %s", Quoted(k.Value))
	r.Lost = true
}

// Text reads a text that says something.
func (r *Reader) Text(name string, n *yaml.Node) string {
	switch tag := n.ShortTag(); {
	case n.Kind != yaml.ScalarNode, tag == "!!null", tag != "!!str" && tag != "!!timestamp" && !Plain(tag):
		r.Problem(n, "%s takes text, not %s", name, Kind(n))
	case Plain(tag):
		r.Problem(n, "%s takes text; put %s in quotes", name, Quoted(n.Value))
	case strings.TrimSpace(n.Value) == "":
		r.Problem(n, "%s is empty", name)
	default:
		return n.Value
	}
	return ""
}

// Plain reports whether a tag marks a number or a truth value: text, but for its quotes.
func Plain(tag string) bool { return tag == "!!int" || tag == "!!float" || tag == "!!bool" }

// Line reads a text of one line, without anything that a terminal would obey.
func (r *Reader) Line(name string, n *yaml.Node) string {
	text := r.Text(name, n)
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.Problem(n, "%s takes one line of text", name)
		return ""
	}
	return strings.TrimSpace(text)
}

// List reads a list of what item reads.
func (r *Reader) List(name string, n *yaml.Node, item func(string, *yaml.Node) string) []string {
	if n.Kind != yaml.SequenceNode {
		r.Problem(n, "%s takes a list, each entry on a line after \"- \", not %s", name, Kind(n))
		return nil
	}
	var items []string
	for i, v := range n.Content {
		if len(r.Problems) > MaxTold {
			break
		}
		items = append(items, item(fmt.Sprintf("entry %d of %s", i+1, name), v))
	}
	return items
}

// OneOf reads a word, one of a few.
func (r *Reader) OneOf(name string, n *yaml.Node, words ...string) string {
	word := r.Line(name, n)
	if word != "" && !slices.Contains(words, word) {
		r.Problem(n, "%s takes %s, not %s", name, alternatives(words), Quoted(word))
		return ""
	}
	return word
}

// alternatives lists words of which one is meant.
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Duration reads how long something may take; 0 is without end.
func (r *Reader) Duration(name string, n *yaml.Node) time.Duration {
	text := r.Line(name, n)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		r.Problem(n, "%s takes a duration such as 90s, 10m or 2h, not %s", name, Quoted(text))
		return 0
	}
	return d
}

// Amount reads a number above 0.
func (r *Reader) Amount(name string, n *yaml.Node) float64 {
	amount, err := strconv.ParseFloat(n.Value, 64)
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || err != nil || !(amount > 0) || math.IsInf(amount, 0) {
		r.Problem(n, "%s takes a number above 0, not %s", name, Shown(n))
		return 0
	}
	return amount
}

// Truth reads true or false.
func (r *Reader) Truth(name string, n *yaml.Node) bool {
	if n.ShortTag() != "!!bool" {
		r.Problem(n, "%s takes true or false, not %s", name, Shown(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// Count reads a whole number from 1.
func (r *Reader) Count(name string, n *yaml.Node) int {
	count, err := strconv.Atoi(n.Value)
	if n.ShortTag() != "!!int" || err != nil || count < 1 {
		r.Problem(n, "%s takes a whole number from 1, not %s", name, Shown(n))
		return 0
	}
	return count
}

// Kind names what a node is, for people.
func Kind(n *yaml.Node) string {
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

// Shown returns a value as it is written, if it is short, else what it is.
func Shown(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		return Quoted(n.Value)
	}
	return Kind(n)
}

// maxQuoted bounds what of a file is repeated in a message, in characters.
const maxQuoted = 40

// Quoted returns a text for a message, in quotes and without anything that a terminal would obey.
func Quoted(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		text = string(runes[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}

// Scalar returns a text as the value that it would be in a file, where it would be one; else as text.
func Scalar(text string) *yaml.Node {
	var r Reader
	if n := r.Optional([]byte(text)); n != nil && n.Kind == yaml.ScalarNode && n.Value == text {
		n.Line = 0 // there is no file
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}
