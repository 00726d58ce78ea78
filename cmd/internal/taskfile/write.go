package taskfile

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Write returns the file as YAML, which Parse reads as f.
func (f File) Write() ([]byte, error) {
	doc := document{}
	doc.task(f.Task)
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

func (d document) task(t Task) {
	put(d, "prompt", t.Prompt)
	put(d, "name", t.Name)
	put(d, "context", t.Brief.Context)
	putList(d, "goals", t.Brief.Goals)
	putList(d, "success_criteria", t.Brief.SuccessCriteria)
	putList(d, "deliverables", t.Brief.Deliverables)
	put(d, "model", t.Model)
	put(d, "max_turns", t.MaxTurns)
	put(d, "estimated_duration", t.Estimated)
	put(d, "max_cost_usd", t.Budget.CostUSD)
	put(d, "max_tokens", t.Budget.Tokens)
	if t.Budget.Time > 0 {
		d["max_time"] = t.Budget.Time.String()
	}
}

func children(all []Child) []document {
	var docs []document
	for _, c := range all {
		doc := document{}
		doc.task(c.Task)
		putList(doc, "after", c.After)
		put(doc, "priority", c.Priority)
		put(doc, "independence", c.Independence)
		put(doc, "subagent_type", c.Type)
		putList(doc, "children", children(c.Children))
		docs = append(docs, doc)
	}
	return docs
}
