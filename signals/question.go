package signals

import (
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
		"optional": "optional", "required": "required",
	}
	optionLabels       = []string{"label", "text", "name", "option", "title", "value"}
	optionDescriptions = []string{"description", "detail", "details", "explanation"}
)

var (
	numberedID = regexp.MustCompile(`^[Qq](?:uestion)?[ _-]?\d{1,4}$`)
	// A question given as text: "Q1: Which?"
	numberedText = regexp.MustCompile(`^([Qq]\d{1,4})[:.)]\s+`)
	// The letter or number before an option: "A) ", "(A) ", "1. ".
	optionMark = regexp.MustCompile(`^(?:([A-Za-z]|\d{1,2})[).:]|\(([A-Za-z]|\d{1,2})\)|\[([A-Za-z]|\d{1,2})\])\s+`)
)

// isQuestionMember reports whether a name can stand in a question or in one of its options.
func isQuestionMember(name string) bool {
	s := snake(name)
	return questionMembers[s] != "" || s == "label" || s == "description" || numberedID.MatchString(name)
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
			if numberedID.MatchString(inner.name) || inner.node.Kind == yaml.MappingNode {
				s.readQuestion(inner.node, inner.name)
			} else {
				s.readQuestion(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: inner.name + ": " + inner.text(), Line: inner.line}, "")
			}
		}
	default:
		s.readQuestion(n, "")
	}
}

// innerList reads a text of which every entry is marked as one of a list, as agents write below "questions: |".
func innerList(text string) *yaml.Node {
	lines := strings.Split(text, "\n")
	if numberedText.MatchString(lines[0]) {
		for i, line := range lines {
			if numberedText.MatchString(line) {
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
		if m := numberedText.FindStringSubmatch(q.Text); m != nil && q.ID == "" {
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
		case "validate":
			q.Validate = m.text()
			s.checkValidate(m.line, q.Validate)
		default:
			if numberedID.MatchString(m.name) && q.Text == "" {
				q.ID, q.Text = m.name, m.text()
				continue
			}
			extra = append(extra, m.name+": "+m.text())
		}
	}
	if q.Text == "" && len(extra) == 1 && q.Context == "" {
		q.Text, extra = extra[0], nil // "Which one: a or b?" reads like a name with a value
	}
	for _, line := range extra {
		q.Context = strings.TrimPrefix(q.Context+"\n"+line, "\n")
	}
	q.Context = cleanText(q.Context)
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
	case "", "choice", "path", "integer", "yes_no":
	default:
		s.problem(line, "bad_value", "validate is %q, not one of choice, path, regex:…, integer, yes_no", bounded(v, 80))
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
	var texts []string // as long as all are plain texts
	var options []Option
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind == yaml.MappingNode {
				options = append(options, optionMap(item))
				continue
			}
			options = append(options, Option{Label: nodeText(item)})
			texts = append(texts, nodeText(item))
		}
	case yaml.MappingNode:
		for _, m := range mapMembers(n) {
			options = append(options, pairOption(m))
		}
	default:
		texts = splitOptions(nodeText(n))
		for _, t := range texts {
			options = append(options, Option{Label: t})
		}
	}
	if len(texts) == len(options) && isMarked(texts) {
		for i := range options {
			options[i].Label = texts[i][len(optionMark.FindString(texts[i])):]
		}
	}
	var kept []Option
	for _, o := range options {
		if o.Label = strings.TrimSpace(o.Label); o.Label != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// isMarked reports whether every text has its letter or number, in order.
func isMarked(texts []string) bool {
	for i, t := range texts {
		m := optionMark.FindStringSubmatch(t)
		if m == nil {
			return false
		}
		mark := strings.ToUpper(m[1] + m[2] + m[3])
		if mark != string(rune('A'+i)) && mark != strconv.Itoa(i+1) {
			return false
		}
	}
	return len(texts) > 0
}

func optionMap(n *yaml.Node) Option {
	ms := mapMembers(n)
	if len(ms) == 1 && snake(ms[0].name) != "label" {
		return pairOption(ms[0])
	}
	named := make(map[string]string, len(ms))
	for _, m := range ms {
		named[snake(m.name)] = m.text()
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
	}
	return o
}

// pairOption reads "A: Postgres", where the name is a letter, and "Postgres: mature", where it is the label.
func pairOption(m member) Option {
	if len(m.name) == 1 || m.text() == "" || slices.Contains(optionLabels, snake(m.name)) {
		if m.text() == "" {
			return Option{Label: m.name}
		}
		return Option{Label: m.text()}
	}
	return Option{Label: m.name, Description: m.text()}
}

// splitOptions splits one text into options where it plainly lists them: by lines, bars, or commas between short
// names.
func splitOptions(text string) []string {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") && !strings.ContainsAny(inner[:len(inner)-1], "[]\"'") {
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
		text := s.Field("reason")
		if text == "" {
			text = unreadable(raw)
		}
		s.Questions = []Question{{Text: text}}
		if asked {
			s.problem(s.Line, "bad_value", "questions holds no question that can be read")
		}
	}
	allOptional := isFalse(s.Field("all_required"))
	taken := make(map[string]bool)
	for i := range s.Questions {
		q := &s.Questions[i]
		q.Optional = q.Optional || allOptional
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
	return "The agent sent what cannot be read. It wrote:\n" + raw
}
