package taskfile

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"claude-supervise/supervisor"
)

// Write returns the file as YAML, which Parse reads as f.
func (f File) Write() ([]byte, error) {
	doc := document{}
	doc.brief(f.Prompt, f.Name, f.Brief)
	doc.limits(f.Model, f.MaxTurns, f.Estimated, f.Budget)
	put(doc, "permissions", string(f.Permissions))
	putList(doc, "allow", f.Allow)
	putList(doc, "deny", f.Deny)
	putList(doc, "accept_ids", f.AcceptIDs)
	put(doc, "hold", f.Hold)
	if len(f.Answers) > 0 {
		answers := yaml.Node{Kind: yaml.MappingNode}
		for _, a := range f.Answers {
			answers.Content = append(answers.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: a.Key},
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: a.Value})
		}
		doc["answers"] = &answers
	}
	put(doc, "max_parallel", f.MaxParallel)
	put(doc, "max_depth", f.MaxDepth)
	put(doc, "max_agents", f.MaxAgents)
	put(doc, "worktree", f.Worktree)
	var delegate []string
	for _, d := range f.Delegate {
		delegate = append(delegate, string(d))
	}
	put(doc, "delegate", strings.Join(delegate, ","))
	putList(doc, "children", children(f.Children))
	if f.Each != nil {
		each := document{}
		put(each, "files", f.Each.Files)
		put(each, "lines", f.Each.Lines)
		doc["each"] = each
	}
	if f.Template != nil {
		doc["child"] = children([]Child{*f.Template})[0]
	}
	return yaml.Dump(doc)
}

// A document is a map of a task file.
type document map[string]any

func put[T comparable](d document, key string, value T) {
	var none T
	if value != none {
		d[key] = value
	}
}

func putList[T any](d document, key string, list []T) {
	if len(list) > 0 {
		d[key] = list
	}
}

func (d document) brief(prompt, name string, b supervisor.Brief) {
	put(d, "prompt", prompt)
	put(d, "name", name)
	put(d, "context", b.Context)
	putList(d, "goals", b.Goals)
	putList(d, "success_criteria", b.SuccessCriteria)
	putList(d, "deliverables", b.Deliverables)
}

func (d document) limits(model string, turns int, estimated string, b supervisor.Budget) {
	put(d, "model", model)
	put(d, "max_turns", turns)
	put(d, "estimated_duration", estimated)
	put(d, "max_cost_usd", b.CostUSD)
	put(d, "max_tokens", b.Tokens)
	if b.Time > 0 {
		d["max_time"] = b.Time.String()
	}
}

func children(all []Child) []document {
	var docs []document
	for _, c := range all {
		doc := document{}
		doc.brief(c.Prompt, c.Name, c.Brief)
		doc.limits(c.Model, c.MaxTurns, c.Estimated, c.Budget)
		putList(doc, "after", c.After)
		put(doc, "priority", c.Priority)
		put(doc, "independence", c.Independence)
		put(doc, "subagent_type", c.Type)
		putList(doc, "children", children(c.Children))
		docs = append(docs, doc)
	}
	return docs
}
