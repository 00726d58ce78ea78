package signals

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// asTaskUpdate opens the skill's (001) task metadata: a call of TaskUpdate whose metadata has needs_input: true,
// written as text, in JSON or as the literal of JavaScript that the document prints. The call itself comes by
// Scanner.ToolCall.
func asTaskUpdate(line string, inside bool) collector {
	_, object, _ := strings.Cut(line, "(")
	object = strings.TrimSpace(object)
	if inside || object == "" || !beginsObject(object) {
		return nil
	}
	o := &openTask{head: object, object: openObject{typed: true, script: true}}
	if end := o.object.feed(object); end >= 0 {
		if !endsCall(object[end:]) {
			return nil
		}
		o.head, o.complete = object[:end], true
	}
	return o
}

// endsCall reports whether nothing but the end of a call follows.
func endsCall(rest string) bool { return strings.Trim(rest, "); ") == "" }

type openTask struct {
	head     string // of the object
	object   openObject
	complete bool
}

func (o *openTask) whole() bool      { return o.complete }
func (o *openTask) spans() bool      { return false }
func (o *openTask) fenced() bool     { return false }
func (o *openTask) clone() collector { c := *o; return &c }

func (o *openTask) printed(trimmed string) bool { return strings.Contains(trimmed, "TaskUpdate(") }

func (o *openTask) add(_, trimmed string, at turning) verdict {
	// The object's last line has the end of the call behind it.
	if end := strings.TrimRight(trimmed, "); "); end != trimmed && strings.HasSuffix(end, "}") {
		if next := o.object; next.feed(end) == len(end) {
			trimmed = end
		}
	}
	return o.object.add("", trimmed, at)
}

func (o *openTask) read(c collected) (Signal, []Problem, bool) {
	text := strings.Join(append([]string{o.head}, c.lines...), "\n")
	if c.closed {
		text = strings.TrimRight(text, "); \t\n")
	}
	if !needsInput().MatchString(text) {
		return Signal{}, nil, false
	}
	members, err := objectMembers(text)
	sig, ok := readTask(members, c.line, text)
	switch {
	case members == nil || !c.closed:
		return salvage(c, TaskMetadata, text,
				newProblem(c.line, "bad_json", "this TaskUpdate is cut off, or can be read neither as JSON nor as a literal")),
			nil, true
	case !ok:
		return Signal{}, nil, false
	}
	_ = err // JavaScript is what the document prints: it need not be JSON
	sig.EndLine = c.end()
	sig.markCut(c)
	return sig, nil, true
}

var needsInput = lazily(`needs_?[iI]nput`)

// readTask reads the object that a TaskUpdate is called with. It is no signal unless its metadata asks for input.
func readTask(members []member, line int, raw string) (Signal, bool) {
	metadata, _ := takeMember(&members, "metadata")
	inner := mapMembers(metadata.node)
	needs, _ := takeMember(&inner, "needs_input")
	if !isTrue(needs.text()) {
		return Signal{}, false
	}
	members = slices.DeleteFunc(append(members, inner...), func(m member) bool {
		return strings.HasPrefix(m.name, "...") || snake(m.name) == "agent_id" && isVariable(m.node)
	})
	sig := Signal{Kind: Clarification, Dialect: TaskMetadata, Line: line, EndLine: line}
	for i := range members {
		members[i].line = line
	}
	sig.fill(&skillForm, unpacked(members), raw)
	if len(sig.Questions) == 0 {
		sig.finishQuestions(false, raw)
	}
	return sig, true
}

// isVariable reports whether a value is a name of JavaScript, which does not tell what it stands for.
func isVariable(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Line > 0 && variable().MatchString(n.Value)
}

var variable = lazily(`^[A-Za-z_$][\w$.]*$`)

// taskCall reads the input of a call of TaskUpdate.
func taskCall(input []byte) (Signal, bool) {
	n, err := loadJSON(string(input))
	if err != nil {
		return Signal{}, false
	}
	sig, ok := readTask(mapMembers(n), 1, string(input))
	sig.Raw = bounded(cleanText(string(input)), MaxRaw)
	return sig, ok
}
