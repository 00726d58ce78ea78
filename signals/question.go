package signals

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// The members of a question and of an option, in the spellings of all dialects, by what they mean.
var (
	questionMembers = map[string]string{
		"question_id": "id", "id": "id",
		"text": "text", "question": "text", "prompt": "text",
		"header": "header", "context": "context", "options": "options", "choices": "options",
		"multi_select": "multi", "multiselect": "multi",
		"validate": "validate", "validation": "validate",
		"optional": "optional", "required": "required", "urgent": "urgent", "image": "image",
	}
	optionLabels       = []string{"label", "text", "name", "option", "title", "value"}
	optionDescriptions = []string{"description", "detail", "details", "explanation"}
)

var (
	numberedID = lazily(`^[Qq](?:uestion)?[ _-]?\d{1,4}$`)
	// A question given as text: "Q1: Which?"
	numberedText = lazily(`^([Qq]\d{1,4})[:.)]\s+`)
	// The letter or number before an option: "A) ", "(A) ", "1. ", "**A)** ".
	optionMark = lazily(
		`^(\*\*)?(?:[Oo]ption )?(?:([A-Za-z]|\d{1,2})[).:]|\(([A-Za-z]|\d{1,2})\)|\[([A-Za-z]|\d{1,2})\])(\*\*)?\s+`)
)

// ownQuestion are the names of what is said of a single question, beside its context, by a signal that holds it among
// its own members: the skill's example of a question and its task metadata (001).
var ownQuestion = map[string]string{
	"question": "question", "question_text": "question", "prompt": "question", "text": "question",
	"options": "options", "choices": "options", "question_options": "options",
	"header": "header", "question_header": "header",
	"multi_select": "multi_select", "multiselect": "multi_select",
	"validate": "validate", "question_id": "question_id", "id": "question_id", "image": "image", "question_image": "image",
}

// gathered puts together the questions that a signal has among its own members: one by its parts, or several by their
// numbers. If it has questions, they are left as they are.
func gathered(members []member) []member {
	has := func(is func(m member) bool) bool { return slices.ContainsFunc(members, is) }
	numbered := func(m member) bool { return numberedID().MatchString(m.name) }
	several := has(numbered)
	switch {
	case has(func(m member) bool { return snake(m.name) == "questions" && m.text() != "" }):
		return members
	case !several && !has(func(m member) bool { return ownQuestion[snake(m.name)] == "question" }):
		return members
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	at := 0
	var rest []member
	for _, m := range members {
		name, own := m.name, several && numbered(m)
		if !several {
			name, own = ownQuestion[snake(m.name)]
		}
		if !own || m.node == nil {
			if snake(m.name) != "questions" {
				rest = append(rest, m)
			}
			continue
		}
		at = cmp.Or(at, m.line)
		if name == "question" && m.node.Kind == yaml.MappingNode {
			n.Content = append(n.Content, m.node.Content...) // a state file (001) has it all in one
		} else {
			n.Content = append(n.Content, textNode(name, m.line), m.node)
		}
	}
	n.Line = at
	return append(rest, member{name: "questions", line: at, node: n})
}

// isQuestionMember reports whether a name can stand in a question or in one of its options.
func isQuestionMember(name string) bool {
	s := snake(name)
	return questionMembers[s] != "" || s == "label" || s == "description" || s == "preview" ||
		numberedID().MatchString(name)
}

// readQuestions reads all spellings of questions: a list of maps or of texts, a map of ids, or one text.
func (s *Signal) readQuestions(m member) {
	n := m.node
	if n.Kind == yaml.ScalarNode {
		if inner := innerList(nodeText(n)); inner != nil {
			n = inner
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			s.readQuestion(item, "")
		}
	case n.Kind == yaml.MappingNode && !isOneQuestion(n):
		for _, inner := range mapMembers(n) {
			if numberedID().MatchString(inner.name) || inner.node.Kind == yaml.MappingNode {
				s.readQuestion(inner.node, inner.name)
			} else {
				s.readQuestion(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: inner.name + ": " + inner.text(),
					Line: inner.line}, "")
			}
		}
	default:
		s.readQuestion(n, "")
	}
}

// innerList reads a text of which every entry is marked as one of a list, as agents write below "questions: |".
func innerList(text string) *yaml.Node {
	lines := strings.Split(text, "\n")
	if numberedText().MatchString(lines[0]) {
		for i, line := range lines {
			if numberedText().MatchString(line) {
				lines[i] = "- " + line
			}
		}
	}
	return repairList(lines, Clarification)
}

// isOneQuestion reports whether a map is a question, not a map of questions.
func isOneQuestion(n *yaml.Node) bool {
	for _, m := range mapMembers(n) {
		if questionMembers[snake(m.name)] == "text" {
			return true
		}
	}
	return false
}

// maxQuestions is how many questions of one signal are read; a person is asked them one by one.
const maxQuestions = 100

func (s *Signal) readQuestion(n *yaml.Node, id string) {
	if len(s.Questions) == maxQuestions {
		s.problem(n.Line, "truncated", "only the first %d questions are kept", maxQuestions)
		return
	}
	q := Question{ID: id}
	if n.Kind == yaml.MappingNode {
		s.questionMap(n, &q)
	} else {
		q.Text = nodeText(n)
		if m := numberedText().FindStringSubmatch(q.Text); m != nil && q.ID == "" {
			q.ID, q.Text = m[1], q.Text[len(m[0]):]
		}
	}
	if q.Text = cleanText(q.Text); q.Text == "" {
		if q.Text = nodeText(n); q.Text == "" {
			return
		}
		s.problem(n.Line, "missing_field", "question %d has no text", len(s.Questions)+1)
	}
	s.Questions = append(s.Questions, q)
}

func (s *Signal) questionMap(n *yaml.Node, q *Question) {
	seen := make(map[string]bool)
	var extra []string
	for _, m := range mapMembers(n) {
		meaning := questionMembers[snake(m.name)]
		if seen[m.name] {
			s.problem(m.line, "duplicate_key", "%s is given twice in one question: this one counts", m.name)
		}
		seen[m.name] = true
		switch meaning {
		case "id":
			q.ID = m.text()
		case "text":
			q.Text = m.text()
		case "header":
			q.Header = m.text()
		case "context":
			q.Context = m.text()
		case "options":
			q.Options = readOptions(m.node)
		case "multi":
			q.MultiSelect = isTrue(m.text())
		case "optional":
			q.Optional = isTrue(m.text())
		case "required":
			q.Optional = isFalse(m.text())
		case "urgent":
			q.Urgent = isTrue(m.text())
			if !q.Urgent && !isFalse(m.text()) && m.text() != "" {
				extra = append(extra, m.name+": "+m.text()) // "urgent: the window closes at six"
			}
		case "image":
			q.Image = m.text()
		case "validate":
			q.Validate = m.text()
			s.checkValidate(m.line, q.Validate)
		default:
			if numberedID().MatchString(m.name) && q.Text == "" {
				q.ID, q.Text = m.name, m.text()
				continue
			}
			extra = append(extra, m.name+": "+m.text())
		}
	}
	if q.Text == "" && len(extra) == 1 && q.Context == "" {
		q.Text, extra = extra[0], nil // "Which one: a or b?" reads like a name with a value
	}
	if q.Context != "" {
		extra = append([]string{q.Context}, extra...)
	}
	q.Context = cleanText(strings.Join(extra, "\n"))
}

func (s *Signal) checkValidate(line int, v string) {
	expr, isRegex := strings.CutPrefix(v, "regex:")
	if isRegex {
		if _, err := regexp.Compile(strings.TrimSpace(expr)); err != nil {
			s.problem(line, "bad_value", "validate: %v", err)
		}
		return
	}
	switch v {
	case "", "choice", "path", "yes_no":
	default:
		if _, isNumber := ReadNumber(v); !isNumber {
			s.problem(line, "bad_value", "validate is %q, not one of choice, path, regex:…, integer, number, yes_no; "+
				"a number may have bounds: integer 1..9, number 0..1 step 0.1", bounded(v, 80))
		}
	}
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

func isFalse(s string) bool {
	switch strings.ToLower(s) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}

// readOptions reads a list of texts or maps, a map of letters or labels, or a text that lists them.
func readOptions(n *yaml.Node) []Option {
	texts := 0 // options that are plain texts
	var options []Option
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind == yaml.MappingNode {
				options = append(options, optionMap(item))
				continue
			}
			options = append(options, plainOption(labelText(item)))
			texts++
		}
	case yaml.MappingNode:
		for _, m := range mapMembers(n) {
			options = append(options, pairOption(m))
		}
	default:
		for _, t := range splitOptions(nodeText(n)) {
			options = append(options, plainOption(t))
			texts++
		}
	}
	if texts == len(options) {
		unmark(options)
	}
	var kept []Option
	for _, o := range options {
		if o.Label = strings.TrimSpace(o.Label); o.Label != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// labelText is nodeText for what is offered: null and ~ are words there, as a value for a setting is. A list of JSON
// has another null, without a text.
func labelText(n *yaml.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return cleanText(n.Value)
	}
	return nodeText(n)
}

// A label in bold, and what is said of it.
var boldLabel = lazily(`^\*\*([^*]+?):?\*\*(?:\s*[:–—-])?\s+(.+)$`)

// plainOption reads an option that is mere text.
func plainOption(text string) Option {
	if m := boldLabel().FindStringSubmatch(text); m != nil {
		return Option{Label: m[1], Description: m[2]}
	}
	return Option{Label: text}
}

// unmark takes the letters or numbers off the options if all have theirs, in order.
func unmark(options []Option) {
	if !areMarked(options) {
		return
	}
	for i := range options {
		options[i].Label, _ = cutMark(options[i].Label)
	}
}

func areMarked(options []Option) bool {
	for i, o := range options {
		if !isMarkedAs(o.Label, i) {
			return false
		}
	}
	return len(options) > 0
}

// cutMark takes the letter or number off an option.
func cutMark(text string) (label, mark string) {
	m := optionMark().FindStringSubmatch(text)
	if m == nil {
		return text, ""
	}
	label = text[len(m[0]):]
	if m[1] != "" && m[5] == "" {
		label = strings.Replace(label, "**", "", 1) // **A) Postgres** is bold up to there
	}
	return label, strings.ToUpper(m[2] + m[3] + m[4])
}

// isMarkedAs reports whether a text has the letter or number of the option that so many stand before.
func isMarkedAs(text string, before int) bool {
	_, mark := cutMark(text)
	return mark == string(rune('A'+before)) || mark == strconv.Itoa(before+1)
}

func optionMap(n *yaml.Node) Option {
	ms := mapMembers(n)
	if len(ms) == 1 && snake(ms[0].name) != "label" {
		return pairOption(ms[0])
	}
	named := make(map[string]string, len(ms))
	for _, m := range ms {
		if name := snake(m.name); slices.Contains(optionLabels, name) {
			named[name] = labelText(m.node)
		} else {
			named[name] = m.text()
		}
	}
	var o Option
	for _, name := range optionLabels {
		if o.Label = named[name]; o.Label != "" {
			break
		}
	}
	for _, name := range optionDescriptions {
		if o.Description = named[name]; o.Description != "" {
			break
		}
	}
	if o.Label == "" {
		o.Label = nodeText(n)
		return o
	}
	o.Preview = named["preview"]
	var more []string // "pros: mature"
	for _, m := range ms {
		name := snake(m.name)
		if name != "preview" && !slices.Contains(optionLabels, name) && !slices.Contains(optionDescriptions, name) &&
			m.text() != "" {
			more = append(more, m.name+": "+m.text())
		}
	}
	if len(more) > 0 {
		o.Description = strings.TrimPrefix(o.Description+"\n"+strings.Join(more, "\n"), "\n")
	}
	return o
}

// pairOption reads "A: Postgres", where the name is a letter, and "Postgres: mature", where it is the label.
func pairOption(m member) Option {
	if len(m.name) == 1 || m.text() == "" || slices.Contains(optionLabels, snake(m.name)) {
		return Option{Label: cmp.Or(labelText(m.node), m.name)}
	}
	return Option{Label: m.name, Description: m.text()}
}

// splitOptions splits one text into options where it plainly lists them: by lines, bars, or commas between short
// names.
func splitOptions(text string) []string {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") &&
		!strings.ContainsAny(inner[:len(inner)-1], "[]\"'") {
		return trimAll(strings.Split(inner[:len(inner)-1], ","))
	}
	if strings.Contains(text, "\n") {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			line = strings.TrimSpace(line)
			for _, bullet := range []string{"- ", "* ", "• "} {
				line = strings.TrimPrefix(line, bullet)
			}
			lines[i] = line
		}
		return trimAll(lines)
	}
	if parts := splitMarked(text); parts != nil {
		return parts
	}
	if parts := strings.Split(text, " | "); len(parts) > 1 {
		return trimAll(parts)
	}
	parts := strings.Split(text, ",")
	for _, p := range parts {
		if len(strings.Fields(p)) > 3 {
			return []string{text}
		}
	}
	return trimAll(parts)
}

// splitMarked splits "A) one B) two" before each mark; nil if there are no two in order.
func splitMarked(text string) []string {
	mark := strings.TrimSpace(optionMark().FindString(text))
	if !isMarkedAs(text, 0) {
		return nil
	}
	first := mark[strings.IndexAny(mark, "Aa1")]
	var parts []string
	for n := 1; ; n++ {
		next := string(rune(int(first) + n))
		if first == '1' {
			next = strconv.Itoa(n + 1)
		}
		i := strings.Index(text, " "+strings.Replace(mark, string(rune(first)), next, 1)+" ")
		if i < 0 {
			break
		}
		parts = append(parts, strings.TrimRight(text[:i], " ,;|/"))
		text = text[i+1:]
	}
	if parts == nil {
		return nil
	}
	return append(parts, text)
}

func trimAll(texts []string) []string {
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	return texts
}

// finishQuestions gives every question an id of its own, and makes sure that there is one: a clarification without a
// readable question becomes one that shows the reason, or the raw text.
func (s *Signal) finishQuestions(asked bool, raw string) {
	if len(s.Questions) == 0 {
		text := cmp.Or(s.Field("reason"), s.Field("context"), unreadable(raw))
		s.Questions = []Question{{Text: text}}
		if asked {
			s.problem(s.Line, "bad_value", "questions holds no question that can be read")
		}
	}
	allOptional, allUrgent := isFalse(s.Field("all_required")), isTrue(s.Field("urgent"))
	if q := &s.Questions[0]; q.Image == "" {
		q.Image = s.Field("image")
	}
	taken := make(map[string]bool)
	for i := range s.Questions {
		q := &s.Questions[i]
		q.Optional = q.Optional || allOptional
		q.Urgent = q.Urgent || allUrgent
		if q.ID != "" && taken[q.ID] {
			s.problem(s.Line, "bad_value", "two questions have the id %s", bounded(q.ID, 80))
			q.ID = ""
		}
		taken[q.ID] = true
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		for n := i + 1; q.ID == ""; n++ {
			if id := fmt.Sprintf("Q%d", n); !taken[id] {
				q.ID, taken[id] = id, true
			}
		}
	}
}

// unreadable shows text that could not be read, in place of a question.
func unreadable(raw string) string {
	raw = strings.TrimSpace(cleanText(bounded(raw, MaxRaw)))
	return unreadableHead + raw
}

const unreadableHead = "The agent sent what cannot be read. It wrote:\n"

// Unasked reports whether nothing that a signal holds can be read as a question: the one that it has shows its raw
// text.
func (s Signal) Unasked() bool {
	return len(s.Questions) == 1 && strings.HasPrefix(s.Questions[0].Text, unreadableHead)
}
