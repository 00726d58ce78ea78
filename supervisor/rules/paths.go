package rules

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A NamedLine is what a command line names.
type NamedLine struct {
	// Words are all words, wherever they are: arguments, redirections, assignments, and those of a line that is given to
	// another shell. Quotes are taken off, ~, braces and variables whose value is known put in. Each is a pattern as
	// path.Match takes it; a part that is only known when the line runs is a *.
	Words []string
	// Moves are the words behind each program that moves, copies, links, unpacks or removes files.
	Moves [][]string
}

// The bounds of a line that is read for what it names: its bytes, as many as one argument of a program holds; the words
// that it stands for; how many brackets it opens, which bounds how deep the parser goes; and how deep lines are nested.
const (
	maxNamedLine  = 128 << 10
	maxNamed      = 4000
	maxOpened     = 2000
	maxNestedLine = 3
	maxBraced     = 64 // words that the braces of one word stand for
)

// Named reads what a command line names; false if it cannot be taken apart. env returns the variables that are known.
func Named(line string, env func(name string) string) (NamedLine, bool) {
	n := namer{assigned: map[string]string{}, seen: map[string]bool{}}
	n.config = &expand.Config{NoUnset: true, Env: expand.FuncEnviron(func(name string) string {
		if value, ok := n.assigned[name]; ok {
			return value
		}
		return env(name)
	})}
	ok := n.read(line, 0)
	return n.NamedLine, ok
}

// A namer collects a NamedLine.
type namer struct {
	NamedLine
	config   *expand.Config
	assigned map[string]string
	seen     map[string]bool
}

func (n *namer) read(line string, depth int) bool {
	opened := strings.Count(line, "(") + strings.Count(line, "{") + strings.Count(line, "`")
	if len(line) > maxNamedLine || opened > maxOpened {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name != nil && node.Value != nil && node.Index == nil {
				n.assign(node.Name.Value, n.patterns(node.Value))
			}
		case *syntax.CallExpr:
			n.call(node, depth)
		case *syntax.Word:
			for _, word := range n.patterns(node) {
				if !n.seen[word] {
					n.seen[word] = true
					n.Words = append(n.Words, word)
				}
			}
		}
		return len(n.seen) <= maxNamed
	})
	return len(n.seen) <= maxNamed
}

// assign notes the value of a variable; the last one that the line gives it counts.
func (n *namer) assign(name string, values []string) {
	value := strings.Join(values, " ")
	if len(value) > maxParsed {
		value = "*"
	}
	n.assigned[name] = value
}

// call looks at the words of one command: at what it moves, and at what it hands to another shell.
func (n *namer) call(c *syntax.CallExpr, depth int) {
	var all []string
	for _, w := range c.Args {
		all = append(all, n.patterns(w)...)
	}
	if len(all) < 2 {
		return
	}
	switch name := path.Base(all[0]); {
	case moving[name], name == "find" && (simple{words: all}).evaluates():
		n.Moves = append(n.Moves, all[1:])
	case depth < maxNestedLine && (slices.Contains(running, name) || slices.Contains(evaluating, name)):
		for _, w := range c.Args[1:] {
			if line, err := n.literal(w); err == nil && strings.ContainsAny(line, " \t\n;|&<>") {
				n.read(line, depth+1) // what is no line after all names nothing
			}
		}
	}
}

// patterns returns the words that a word stands for.
func (n *namer) patterns(w *syntax.Word) (all []string) {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(split) || braced(split) > maxBraced {
		return []string{n.pattern(split.Parts, false)} // in which braces are a *
	}
	for one, err := range expand.BracesSeq(n.config, split) {
		if err != nil {
			return []string{"*"}
		}
		all = append(all, n.pattern(one.Parts, false))
	}
	return all
}

// braced counts the words that the braces of a word stand for, up to more than maxBraced.
func braced(w *syntax.Word) int {
	words := 1
	for _, part := range w.Parts {
		b, is := part.(*syntax.BraceExp)
		if !is {
			continue
		}
		of := 0
		for _, elem := range b.Elems {
			of += braced(elem)
		}
		if words *= of; words > maxBraced || b.Sequence {
			return maxBraced + 1
		}
	}
	return words
}

// pattern writes the parts of a word as a pattern.
func (n *namer) pattern(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value := p.Value
			if rest, tilde := strings.CutPrefix(value, "~"); tilde && i == 0 && !quoted &&
				(rest == "" && len(parts) == 1 || strings.HasPrefix(rest, "/")) {
				b.WriteString(QuotePattern(n.config.Env.Get("HOME").String()))
				value = rest
			}
			if quoted {
				value = QuotePattern(unescapedInQuotes.Replace(value))
			}
			b.WriteString(value)
		case *syntax.SglQuoted:
			value, err := n.literal(&syntax.Word{Parts: []syntax.WordPart{p}})
			if err != nil {
				value = p.Value
			}
			b.WriteString(QuotePattern(value))
		case *syntax.DblQuoted:
			b.WriteString(n.pattern(p.Parts, true))
		case *syntax.ParamExp:
			value, err := n.literal(&syntax.Word{Parts: []syntax.WordPart{p}})
			if err != nil {
				value = "*"
			}
			b.WriteString(value)
		default:
			b.WriteString("*")
		}
	}
	return b.String()
}

// unescapedInQuotes takes the backslashes away that double quotes do not keep.
var unescapedInQuotes = strings.NewReplacer(`\\`, `\`, `\$`, `$`, `\"`, `"`, "\\`", "`", "\\\n", "")

// QuotePattern writes a text so that path.Match takes it for itself.
func QuotePattern(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

var errDecidedLater = errors.New("it is decided when it runs")

// literal expands a word; an error where that is only known when it runs.
func (n *namer) literal(w *syntax.Word) (value string, err error) {
	defer func() {
		if recover() != nil { // the library does so at what it cannot expand
			err = errDecidedLater
		}
	}()
	return expand.Literal(n.config, w)
}

// moving are the programs that put files in another place, or take them away.
var moving = map[string]bool{"mv": true, "cp": true, "ln": true, "rm": true, "rmdir": true, "rsync": true,
	"install": true, "tar": true, "bsdtar": true, "unzip": true, "cpio": true, "chmod": true, "chown": true}
