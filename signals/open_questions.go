package signals

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// openQuestions collects what stands below AWAITING_USER_INPUT or PAUSED_FOR_INPUT, and makes a signal of it.
type openQuestions struct {
	dialect Dialect
	word    string
	path    string // behind the word
	head    string // the object, or its first line, behind the word
	unsure  bool   // a colon ends the line: with no question below it is talk
	below   questionParser
}

func (o *openQuestions) whole() bool      { return o.below.over }
func (o *openQuestions) spans() bool      { return false }
func (o *openQuestions) fenced() bool     { return o.below.isFenced }
func (o *openQuestions) clone() collector { c := *o; return &c }

func (o *openQuestions) printed(trimmed string) bool { return strings.HasPrefix(trimmed, o.word) }

func (o *openQuestions) add(line, trimmed string, at turning) verdict {
	switch {
	case at == closesFence, o.below.take(line, trimmed) == notPart:
		return over
	case o.below.over:
		return last
	}
	return more
}

// skillForm is the form of what the skill's document (001) describes.
var skillForm = form{
	kind: Clarification, nameless: true,
	required: []string{"questions"},
	fields: append([]string{"context", "state_file", "question_context", "task_id"},
		formNamed(string(Clarification)).fields...),
}

func (o *openQuestions) read(c collected) (Signal, []Problem, bool) {
	var state questionParser
	var sheet answerSheet
	var object []string  // its lines
	first, used := -1, 0 // the first line with a name, and how many lines belong to the signal
	if o.head != "" {
		state.take(o.head, o.head)
		object = append(object, o.head)
	}
lines:
	for i, line := range c.lines {
		if state.over {
			break
		}
		trimmed := strings.TrimSpace(line)
		part := state.take(line, trimmed)
		if part == morePart && state.inState {
			column, _ := indented(line) // its indentation below "State:" says what belongs to what
			trimmed = strings.Repeat(" ", max(column-state.state, 0)) + trimmed
		}
		switch part {
		case notPart:
			break lines
		case gapPart:
			continue
		case objectPart:
			object = append(object, line)
		default:
			sheet.take(part, trimmed, c.line+1+i)
		}
		if first < 0 && state.named {
			first = i
		}
		used = i + 1
		sheet.used(used)
	}
	if len(object) > 0 {
		return o.readObject(c, strings.Join(object, "\n"), used, state.over), nil, true
	}
	if state.inYAML {
		doc := repair(c.lines[first:used], c.line+1+first, &skillForm, false)
		if doc.err == nil {
			return o.fill(c, unpacked(doc.members), first+doc.used, doc.problems), nil, true
		}
		c.lines = c.lines[:used]
		why := newProblem(c.line, "bad_yaml", "what is below %s cannot be read: %v", o.word, doc.err)
		return salvage(c, o.dialect, strings.Join(c.lines, "\n"), why), nil, true
	}
	if o.unsure && !state.named && state.options == 0 {
		return Signal{}, nil, false
	}
	members, used := sheet.close(used, o.dialect == Paused)
	return o.fill(c, members, used, nil), nil, true
}

// readObject makes a signal of the object, which ends in the line of that number after the word.
func (o *openQuestions) readObject(c collected, object string, used int, whole bool) Signal {
	if whole {
		members, err := objectMembers(object)
		if members != nil {
			var problems []Problem
			if err != nil {
				problems = []Problem{newProblem(c.line, "bad_json", "the object is not valid JSON and was read as YAML: %v", err)}
			}
			for i := range members {
				members[i].line = c.line
			}
			return o.fill(c, unpacked(members), used, problems)
		}
	}
	c.lines = c.lines[:used]
	why := newProblem(c.line, "bad_json", "the object below %s is cut off, or can be read neither as JSON nor as YAML",
		o.word)
	sig := salvage(c, o.dialect, c.head+"\n"+strings.Join(c.lines, "\n"), why)
	if path := o.path; path != "" {
		sig.Fields = []Field{{"state_file", path}}
	} else if m := salvageStateFile().FindStringSubmatch(object); m != nil {
		sig.Fields = []Field{{"state_file", cleanText(m[1])}}
	}
	return sig
}

var salvageStateFile = lazily(`state_?[fF]ile["']?\s*:\s*["']([^"'\n]+)["']`)

func (o *openQuestions) fill(c collected, members []member, used int, problems []Problem) Signal {
	sig := Signal{Kind: Clarification, Dialect: o.dialect, Line: c.line, EndLine: c.line + used, Problems: problems}
	if c.closed {
		sig.EndLine = c.last
	}
	if o.path != "" {
		members = append([]member{{name: "state_file", line: c.line, node: textNode(o.path, c.line)}}, members...)
	}
	raw := strings.Join(append([]string{c.head}, c.lines[:used]...), "\n")
	sig.fill(&skillForm, members, raw)
	if len(sig.Questions) == 0 {
		sig.finishQuestions(false, raw)
	}
	sig.markCut(c)
	return sig
}

func textNode(s string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: line}
}

// unpacked returns the members of an object as the signal's own: those of a payload (002) come out of it, and the file
// with the agent's state gets its name.
func unpacked(members []member) []member {
	members = openPayload(members)
	named := slices.ContainsFunc(members, func(m member) bool { return snake(m.name) == "state_file" })
	for i := range members {
		if !named && stateFiles[snake(members[i].name)] {
			members[i].name, named = "state_file", true
		}
	}
	return members
}

// stateFiles are other names that agents give the file with their state.
var stateFiles = map[string]bool{"statefile": true, "state_path": true, "checkpoint": true,
	"checkpoint_file": true, "checkpoint_path": true}
