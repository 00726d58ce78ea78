package signals

import (
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// This file is the layer in front of the YAML library. Agents write YAML by ear: colons, # and quotes in plain
// values, tabs, indentation that wanders, values that run on in the next line. Where the meaning is plain the lines
// are written anew as YAML that no reader can take otherwise: two blanks a level, one line a value, every value that
// is not a simple word quoted. What brackets, braces and quotes mean is left to the library.

// A document is the body of a block.
type document struct {
	members  []member
	problems []Problem
	used     int   // lines of the body that belong to it: all, unless the block was not closed
	err      error // it cannot be read at all
}

// repair reads the lines of a body, of which the first has the number given. If the block was not closed, the body
// ends where text begins that can be no part of it.
func repair(lines []string, first int, f *form, closed bool) document {
	if doc, ok := objectBody(lines, first); ok {
		return doc
	}
	r := &repairer{lines: lines, first: first, form: f, closed: closed}
	r.run()
	doc := document{problems: r.problems, used: r.used}
	if len(r.from) == 0 {
		return doc
	}
	root, err := loadYAML(r.out.String(), maxDepth+maxFlowDepth)
	if err != nil {
		doc.err = err
		return doc
	}
	r.number(root)
	doc.members = mapMembers(root)
	return doc
}

// repairList reads text that is nothing but a list, in the way of the questions of a clarification or of any other
// field; nil if it is not.
func repairList(lines []string, kind Kind) *yaml.Node {
	r := &repairer{
		lines: lines, form: &form{kind: kind}, closed: true, inQuestions: kind == Clarification,
		stack: []level{{column: -1}}, opened: true, // as if below a name
	}
	if _, _, ok := r.dash(strings.TrimSpace(lines[0])); !ok {
		return nil
	}
	r.run()
	n, err := loadYAML(r.out.String(), maxDepth+maxFlowDepth)
	if err != nil || n.Kind != yaml.SequenceNode || len(r.problems) > 0 {
		return nil
	}
	return n
}

// objectBody reads a body that is one JSON object.
func objectBody(lines []string, first int) (document, bool) {
	start := slices.IndexFunc(lines, func(line string) bool {
		t := strings.TrimSpace(line)
		return t != "" && !isFence(t)
	})
	if start < 0 || strings.TrimSpace(lines[start])[0] != '{' {
		return document{}, false
	}
	end := len(lines)
	for end > start && (strings.TrimSpace(lines[end-1]) == "" || isFence(strings.TrimSpace(lines[end-1]))) {
		end--
	}
	members, err := objectMembers(strings.Join(lines[start:end], "\n"))
	if members == nil {
		return document{}, false
	}
	doc := document{members: members, used: len(lines)}
	for i := range doc.members {
		doc.members[i].line = first + start
	}
	if err != nil {
		doc.problems = []Problem{{Line: first + start, Code: "bad_json",
			Message: "the object is not valid JSON and was read as YAML: " + err.Error()}}
	}
	return doc, true
}

type repairer struct {
	lines  []string
	at     int // the next line
	first  int
	form   *form
	closed bool

	stack       []level
	opened      bool // the last entry has no value yet: what is deeper is its value
	blank       bool // the line before was
	inQuestions bool
	bulleted    bool // the fields themselves are written as a list

	out      strings.Builder
	from     []int // for each line of out, the number of the line it was
	problems []Problem
	used     int
}

// A level is a list or map that is not complete. Its place in the stack is its depth.
type level struct {
	column int // of its dashes or names, as written
	list   bool
}

func (r *repairer) run() {
	for r.at < len(r.lines) {
		column, text := indented(r.lines[r.at])
		if text == "" {
			r.blank = true
			r.at++
			continue
		}
		if text == "---" || text == "..." || isFence(text) || isComment(text) {
			r.at++
			continue
		}
		from := r.at
		if r.entry(column, text) {
			r.used = r.at
			r.blank = false
			continue
		}
		if !r.closed {
			return
		}
		r.problem(from, "this line is not a part of the YAML around it and is left out: %s", text)
		r.at = from + 1
	}
	if r.closed {
		r.used = len(r.lines)
	}
}

func (r *repairer) problem(at int, format string, args ...any) {
	if len(r.problems) < maxStrays {
		r.problems = append(r.problems, newProblem(r.first+at, "bad_yaml", format, args...))
	}
}

// entry takes one entry of a list or a map with its value. It returns false, and takes nothing, if the line is none.
func (r *repairer) entry(column int, text string) bool {
	start := r.first + r.at
	if rest, ok := r.bulletedField(column, text); ok {
		r.bulleted = true
		text = rest
	}
	var b strings.Builder
	list := false
	for len(r.stack) < maxDepth {
		rest, width, ok := r.dash(text)
		if !ok {
			break
		}
		if list {
			r.stack = append(r.stack, level{column, true})
		} else if !r.place(column, true, "") {
			return false
		} else {
			b.WriteString(strings.Repeat("  ", len(r.stack)-1))
		}
		b.WriteString("- ")
		column, text, list = column+width, rest, true
	}
	name, rest, ok := r.key(column, text)
	switch {
	case ok:
		if !r.closed && r.blank && len(r.stack) > 0 && column <= r.stack[0].column && !r.form.knows(snake(name)) {
			return false // below an unclosed block and a blank line "Word: text" is rather talk
		}
		if list {
			r.stack = append(r.stack, level{column, false})
		} else if !r.place(column, false, name) {
			return false
		} else {
			b.WriteString(strings.Repeat("  ", len(r.stack)-1))
		}
		if len(r.stack) == 1 {
			r.inQuestions = r.form.kind == Clarification && snake(name) == "questions"
		}
		b.WriteString(strconv.Quote(name) + ":")
		value := r.value(rest, column, snake(name) == "agent_id" || snake(name) == "timestamp", false)
		r.opened = value == ""
		if value != "" {
			b.WriteString(" " + value)
		}
	case list:
		value := r.value(text, column-1, false, true)
		r.opened = value == ""
		if at, deeper := r.memberBelow(column); value != "" && deeper {
			r.stack = append(r.stack, level{at, false})
			b.WriteString("text: ")
		}
		b.WriteString(value)
	default:
		return false
	}
	r.out.WriteString(b.String() + "\n")
	r.from = append(r.from, start)
	return true
}

// memberBelow reports whether the text of a question, given without a name, is followed by the question's other
// members, and in which column.
func (r *repairer) memberBelow(column int) (int, bool) {
	if !r.inQuestions || r.at >= len(r.lines) {
		return 0, false
	}
	at, text := indented(r.lines[r.at])
	name, _, ok := r.key(at, text)
	return at, ok && at >= column-1 && (isQuestionMember(name) || at >= column && r.inOptions())
}

// inOptions reports whether the entries at hand are in a list inside of the questions' list.
func (r *repairer) inOptions() bool {
	lists := 0
	for _, l := range r.stack {
		if l.list {
			lists++
		}
	}
	return r.inQuestions && lists > 1
}

// place finds the level to which an entry in this column belongs, ends those that are deeper, and begins one where
// the entry before has no value. Columns that fit no level count as the nearest one of their sort.
func (r *repairer) place(column int, list bool, name string) bool {
	opened := r.opened
	all := r.stack
	n, again := len(all), -1
	for n > 0 && all[n-1].column > column {
		n--
		if all[n].list == list {
			again = n
		}
	}
	begin := func(below []level) bool {
		if len(below) >= maxDepth {
			return false
		}
		r.stack = append(below, level{column, list})
		return true
	}
	switch back := func(n int) bool { r.stack = all[:n]; return true }; {
	case n > 0 && all[n-1] == level{column, list}:
		return back(n)
	case n > 0 && all[n-1].column == column && list: // a list below its name without indentation
		if again < 0 && !opened {
			return false
		}
		if again >= 0 && n < len(all) {
			return back(again + 1)
		}
		return begin(all)
	case n > 0 && all[n-1].column == column:
		owner := n > 1 && all[n-2] == level{column, false}
		if owner && (again < 0 || !r.inQuestions || !isQuestionMember(name) || r.form.knows(snake(name))) {
			return back(n - 1)
		}
		return again >= 0 && back(again+1)
	case opened && n == len(all):
		return begin(all)
	case r.inQuestions && !list && r.form.knows(snake(name)) && !isQuestionMember(name):
		return back(1)
	case opened && list && again < 0:
		return begin(all)
	case again == 0:
		all[0].column = column
		return back(1)
	case again > 0:
		return back(again + 1)
	case n > 0 && all[n-1].list == list:
		return back(n)
	case n > 1 && all[n-2].list == list:
		return back(n - 1)
	case len(all) == 0 && !list:
		return begin(all)
	}
	return false
}

// number gives the nodes the numbers of the lines as the agent wrote them.
func (r *repairer) number(n *yaml.Node) {
	if n.Line >= 1 && n.Line <= len(r.from) {
		n.Line = r.from[n.Line-1]
	}
	for _, inner := range n.Content {
		r.number(inner)
	}
}
