package signals

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	used     int // lines of the body that belong to it: all, unless the block was not closed
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
	root, err := loadYAML(r.out.String())
	if err != nil {
		doc.problems = append(doc.problems, Problem{Line: first, Code: "bad_yaml", Message: err.Error()})
		return doc
	}
	r.number(root)
	doc.members = mapMembers(root)
	return doc
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
		doc.problems = []Problem{{Line: first + start, Code: "bad_json", Message: "the object is not valid JSON and was read as YAML: " + err.Error()}}
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
		r.problem(from, "this line is no part of the YAML around it and is left out: %s", text)
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
	if rest, _, ok := r.dash(text); ok {
		if name, _, ok := r.key(column, rest); ok && r.form.knows(snake(name)) && (len(r.stack) == 0 || r.bulleted && column <= r.stack[0].column) {
			r.bulleted = true
			text = rest
		}
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
	return at, ok && at >= column-1 && isQuestionMember(name)
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

// dash reads the mark of a list entry: what follows it, and how wide it is. In questions, numbers and bullets are
// such marks too.
func (r *repairer) dash(text string) (rest string, width int, ok bool) {
	mark := 0
	switch {
	case text == "-":
		return "", 2, true
	case strings.HasPrefix(text, "- "):
		mark = 1
	case r.inQuestions && strings.HasPrefix(text, "* "):
		mark = 1
	case r.inQuestions && strings.HasPrefix(text, "• "):
		mark = len("•")
	case r.inQuestions:
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		if digits == 0 || digits > 3 || len(text) < digits+2 || text[digits] != '.' && text[digits] != ')' || text[digits+1] != ' ' {
			return "", 0, false
		}
		mark = digits + 1
	default:
		return "", 0, false
	}
	rest = strings.TrimLeft(text[mark:], " \t")
	return rest, len(text) - len(rest), true
}

// key reads the name of a map entry, and what follows its colon.
func (r *repairer) key(column int, text string) (name, rest string, ok bool) {
	if text == "" {
		return "", "", false
	}
	if text[0] == '"' || text[0] == '\'' {
		end := closingQuote(text[1:], text[0])
		if end < 0 {
			return "", "", false
		}
		after, found := strings.CutPrefix(strings.TrimSpace(text[end+2:]), ":")
		n, err := loadYAML(text[:end+2])
		if !found || err != nil || n.Kind != yaml.ScalarNode || n.Value == "" {
			return "", "", false
		}
		return n.Value, strings.TrimSuffix(strings.TrimSpace(after), ","), true
	}
	i := strings.IndexByte(text, ':')
	for i >= 0 && i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\t' {
		if r.known(strings.Trim(text[:i], "*`")) {
			break // agent_id:a-1, or **agent_id:** a-1
		}
		next := strings.IndexByte(text[i+1:], ':')
		if next < 0 {
			return "", "", false
		}
		i += 1 + next
		if i > maxName {
			return "", "", false
		}
	}
	if i <= 0 || i > maxName {
		return "", "", false
	}
	name, rest = text[:i], text[i+1:]
	if plain := strings.Trim(name, "*`"); plain != name {
		if !r.known(plain) {
			return "", "", false
		}
		return plain, strings.TrimLeft(rest, "*`"), true
	}
	if r.known(name) {
		return name, rest, true
	}
	words := 4
	if len(r.stack) == 0 || column <= r.stack[0].column || r.inQuestions {
		words = 1
	}
	return name, rest, isName(name, words)
}

const maxName = 64 // bytes of a field's name

// known reports whether a name is one that may stand here.
func (r *repairer) known(name string) bool {
	return r.form.knows(snake(name)) || r.inQuestions && isQuestionMember(name)
}

// isName reports whether a plain text can be the name of a field, rather than a piece of a sentence.
func isName(s string, words int) bool {
	if strings.HasSuffix(s, " ") || strings.Count(s, " ") >= words {
		return false
	}
	for i, c := range s {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || i > 0 && strings.ContainsRune("-./ &+", c) {
			continue
		}
		return false
	}
	return true
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

// indented splits a line into the column where its text begins and the text. A tab goes to the next fourth column.
func indented(line string) (column int, text string) {
	for i, c := range line {
		switch {
		case c == '\t':
			column += 4 - column%4
		case unicode.IsSpace(c):
			column++
		default:
			return column, strings.TrimRightFunc(line[i:], unicode.IsSpace)
		}
	}
	return column, ""
}

func isComment(text string) bool { return text == "#" || strings.HasPrefix(text, "# ") }

// scalar writes a value as YAML that has one meaning only.
func scalar(s string) string {
	if isSimple(s) {
		return s
	}
	return strconv.Quote(s)
}

// isSimple reports whether a text is words, numbers and paths only, so that YAML takes it as it stands.
func isSimple(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '/':
		case c == '.' || c == '-' || c == '+':
			if i == 0 && len(s) < 2 || i == 0 && (s[1] < '0' || s[1] > '9') && s[1] != '/' {
				return false
			}
		case c == ' ':
			if i == 0 || i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return s != ""
}
