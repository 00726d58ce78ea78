package signals

import (
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// An answerSheet is the question as plain text: lines with names, paragraphs, options.
type answerSheet struct {
	members    []member // of the signal itself
	questions  []*sheetQuestion
	paragraphs []paragraph // that have no name
	running    *string     // the text that the next line may go on with
	more       []string    // lines that go on with it
	asLines    bool        // each on a line of its own
	lines      int         // that were taken
	unmatched  int         // lines before a paragraph that stands between a question and its options, if they come; or 0
}

type sheetQuestion struct {
	line    int
	members []Field
	hasText bool
	options []Option
	listed  string // options in one text, as given behind "Options:"
}

type paragraph struct {
	text string
	line int
	used int // how many lines there were at its end
}

// take adds a line that asking has told the part of.
func (a *answerSheet) take(p part, trimmed string, line int) {
	if p != morePart {
		a.flush()
		a.asLines = false
	}
	switch p {
	case namedPart:
		a.name(trimmed, line)
	case textPart:
		if len(a.questions) > 0 {
			a.unmatched, a.running = a.lines, new(string)
			break
		}
		a.paragraphs = append(a.paragraphs, paragraph{text: trimmed, line: line})
		a.running = &a.paragraphs[len(a.paragraphs)-1].text
	case optionPart:
		a.unmatched = 0
		q := a.question(line)
		label, bulleted := cutBullet(trimmed)
		if !bulleted && isMarkedAs(trimmed, len(q.options)) {
			label, _ = cutMark(trimmed)
		}
		q.options = append(q.options, Option{Label: unquoted(label)})
		a.running = &q.options[len(q.options)-1].Description
	case morePart:
		a.more = append(a.more, trimmed)
	}
}

// flush puts the lines that run on where they belong.
func (a *answerSheet) flush() {
	if len(a.more) > 0 {
		between := " "
		if a.asLines {
			between = "\n"
		}
		*a.running = strings.TrimPrefix(*a.running+between+strings.Join(a.more, between), between)
		a.more = nil
	}
}

// used notes how many lines there are up to the one that was taken.
func (a *answerSheet) used(n int) {
	a.lines = n
	if len(a.paragraphs) > 0 && a.running == &a.paragraphs[len(a.paragraphs)-1].text {
		a.paragraphs[len(a.paragraphs)-1].used = n
	}
}

// name takes a line with a name.
func (a *answerSheet) name(trimmed string, line int) {
	a.unmatched = 0
	meaning, name, value, _ := namedLine(trimmed)
	if meaning == "" {
		node := textNode(unquoted(value), line)
		a.members = append(a.members, member{name: name, line: line, node: node})
		if a.running = new(string); name == currentState {
			a.running, a.asLines = &node.Value, true
		}
		return
	}
	q := a.question(line)
	if meaning == "text" && q.hasText {
		q = &sheetQuestion{line: line}
		a.questions = append(a.questions, q)
	}
	switch meaning {
	case "text":
		q.hasText = true
		if numberedID().MatchString(name) {
			q.members = append(q.members, Field{"id", name})
		}
	case "options":
		q.options, q.listed = nil, value
		a.running = &q.listed
		return
	}
	if meaning == "multi" {
		meaning = "multi_select"
	}
	q.members = append(q.members, Field{meaning, value})
	a.running = &q.members[len(q.members)-1].Value
}

func (a *answerSheet) question(line int) *sheetQuestion {
	if len(a.questions) == 0 {
		a.questions = append(a.questions, &sheetQuestion{line: line})
	}
	return a.questions[len(a.questions)-1]
}

// close returns the members of the signal, and how many of the lines belong to it. Paragraphs before a named question
// are its context; before options the last one is the question. Paragraphs alone belong to the signal if one of them
// asks and bare says that they may; else the first is shown in place of a question, and is text that follows the
// signal.
func (a *answerSheet) close(used int, bare bool) ([]member, int) {
	a.flush()
	if len(a.questions) == 0 && len(a.paragraphs) > 0 {
		asks := -1
		for i, p := range a.paragraphs {
			if bare && isQuestion(p.text) && utf8.RuneCountInString(p.text) <= maxAfter {
				asks = i
			}
		}
		used = a.paragraphs[max(asks, 0)].used
		a.paragraphs = a.paragraphs[:max(asks, 0)+1]
		if asks < 0 {
			used = 0
		}
		a.question(a.paragraphs[0].line)
	}
	if a.unmatched > 0 {
		used = a.unmatched
	}
	if len(a.questions) == 0 {
		return a.members, used
	}
	a.adopt(a.questions[0])
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, q := range a.questions {
		list.Content = append(list.Content, q.node())
	}
	return append(a.members, member{name: "questions", line: a.questions[0].line, node: list}), used
}

// adopt gives the paragraphs to the question that follows them.
func (a *answerSheet) adopt(q *sheetQuestion) {
	var context []string
	for i, p := range a.paragraphs {
		if !q.hasText && i == len(a.paragraphs)-1 {
			q.members = append(q.members, Field{"text", p.text})
		} else {
			context = append(context, p.text)
		}
	}
	for _, m := range q.members {
		if m.Name == "context" {
			return
		}
	}
	if len(context) > 0 {
		q.members = append(q.members, Field{"context", strings.Join(context, "\n")})
	}
}

func (q *sheetQuestion) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Line: q.line}
	add := func(name string, value *yaml.Node) {
		n.Content = append(n.Content, textNode(name, q.line), value)
	}
	for _, m := range q.members {
		add(m.Name, textNode(unquoted(m.Value), q.line))
	}
	if len(q.options) > 0 {
		unmark(q.options)
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, o := range q.options {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
				textNode("label", q.line), textNode(o.Label, q.line), textNode("description", q.line),
				textNode(o.Description, q.line),
			}})
		}
		add("options", list)
	} else if q.listed != "" {
		list, err := loadJSON(q.listed)
		if err != nil {
			list = flowNode(q.listed)
		}
		if list == nil {
			list = textNode(q.listed, q.line)
		}
		add("options", list)
	}
	return n
}

// isQuestion reports whether a paragraph asks.
func isQuestion(text string) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_\"')”»` "))
	return strings.ContainsRune("?？؟", end)
}

// unquoted takes the quotes off a text that is wholly in quotes.
func unquoted(s string) string {
	if n, err := loadJSON(s); err == nil && n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return n.Value
	}
	for _, pair := range []string{`""`, "''", "``", "“”", "‘’", "«»", "„“"} {
		open, size := utf8.DecodeRuneInString(pair)
		inner, ok := strings.CutPrefix(s, string(open))
		if inner, end := strings.CutSuffix(inner, pair[size:]); ok && end && !strings.Contains(inner, pair[size:]) {
			return inner
		}
	}
	return s
}
