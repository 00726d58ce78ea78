package yamlfile

import (
	"go.yaml.in/yaml/v4"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/task"
)

// Checked reads a line of text that check takes; the error of check says what is taken instead.
func (r *Reader) Checked(name string, n *yaml.Node, check func(string) error) string {
	text := r.Line(name, n)
	if text != "" { // else told of already
		r.Refuse(n, name, check(text))
	}
	return text
}

// Rule reads a rule of what runs.
func (r *Reader) Rule(name string, n *yaml.Node) string {
	text := r.Line(name, n)
	if text == "" {
		return "" // told of already
	}
	rule, err := rules.Parse(text)
	r.Refuse(n, name, err)
	return rule.String()
}

// Tokens reads a number of tokens, 2000000 or 2M.
func (r *Reader) Tokens(name string, n *yaml.Node) int64 {
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!str" {
		r.Problem(n, "%s takes a number of tokens such as 200000, 200k or 1.5M, not %s", name, Shown(n))
		return 0
	}
	tokens, err := questions.ParseTokens(n.Value)
	r.Refuse(n, name, err)
	return tokens
}

// Hold reads how long a process waits for an answer, as supervisor.ParseHold takes it; 0 needs no quotes.
func (r *Reader) Hold(name string, n *yaml.Node) string {
	if n.ShortTag() == "!!int" && n.Value == "0" {
		return n.Value
	}
	return r.Checked(name, n, func(text string) error { _, err := conf.ParseHold(text); return err })
}

// Model reads the name of a model.
func (r *Reader) Model(name string, n *yaml.Node) string {
	return r.Checked(name, n, task.CheckModel)
}
