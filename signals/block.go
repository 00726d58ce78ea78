package signals

import (
	"slices"
	"strings"
)

// asBlock opens the form of the protocols document (002): YAML between [NAME] and [/NAME].
func asBlock(line string, _ bool) collector {
	name, closing, ok := marker(line)
	if !ok || closing {
		return nil
	}
	if f := formNamed(name); f != nil {
		return &openBlock{form: f, closing: "[/" + name + "]"}
	}
	return nil
}

// marker reads a line that is nothing but a name in capitals between brackets.
func marker(line string) (name string, closing, ok bool) {
	if len(line) < 3 || line[0] != '[' || line[len(line)-1] != ']' || len(line) > maxTag {
		return "", false, false
	}
	name, closing = strings.CutPrefix(line[1:len(line)-1], "/")
	for i := range len(name) {
		if c := name[i]; (c < 'A' || c > 'Z') && c != '_' {
			return "", false, false
		}
	}
	return name, closing, name != ""
}

type openBlock struct {
	form    *form
	closing string
}

func (b *openBlock) whole() bool      { return false }
func (b *openBlock) spans() bool      { return true }
func (b *openBlock) fenced() bool     { return false } // fence lines inside a block are ignored
func (b *openBlock) clone() collector { return b }     // it never changes

func (b *openBlock) add(_, trimmed string, _ turning) verdict {
	if strings.HasSuffix(trimmed, b.closing) {
		return last
	}
	if name, closing, ok := marker(trimmed); ok && closing && formNamed(name) != nil {
		return stray
	}
	return more
}

func (b *openBlock) printed(trimmed string) bool { return trimmed == "["+b.form.name()+"]" }

func (b *openBlock) read(c collected) (Signal, []Problem, bool) {
	if len(c.lines) == 0 {
		return Signal{}, nil, false
	}
	sig := Signal{Kind: b.form.kind, Dialect: Block, Line: c.line, EndLine: c.end()}
	body := c.lines
	if c.closed {
		body = slices.Clone(body)
		end := &body[len(body)-1]
		*end = strings.TrimSuffix(strings.TrimSpace(*end), b.closing)
	}
	doc := repair(body, c.line+1, b.form, c.closed)
	if doc.err != nil {
		return salvage(c, Block, strings.Join(body, "\n"),
			newProblem(c.line, "bad_yaml", "%s cannot be read: %v", c.head, doc.err)), nil, true
	}
	if !c.closed {
		sig.EndLine = c.line + doc.used
		sig.problem(c.line, "unclosed", "%s is not closed: its end is taken to be line %d", c.head, sig.EndLine)
	}
	sig.Problems = append(sig.Problems, doc.problems...)
	sig.fill(b.form, doc.members, strings.Join(body[:doc.used], "\n"))
	switch {
	case sig.isEmpty() && c.closed:
		return sig, []Problem{newProblem(c.line, "missing_field", "%s has no field, so it is not a signal", c.head)}, false
	case sig.isEmpty():
		return sig, nil, false
	case !c.closed && !slices.ContainsFunc(doc.members, func(m member) bool { return b.form.knows(m.name) }):
		return sig, nil, false // a marker above some "Word: text": talk
	}
	sig.markCut(c)
	return sig, nil, true
}
