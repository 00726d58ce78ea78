package taskfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"claude-supervise/supervisor"
)

// A key is one that a map of a task file may have, and what is done with its value. task.schema.json says the same for
// editors; a test holds the two together.
type key[T any] struct {
	name string
	read func(r *reader, name string, value *yaml.Node, to *T)
}

// readKeys reads a map of these keys.
func readKeys[T any](r *reader, what string, n *yaml.Node, keys []key[T], to *T) {
	r.pairs(what, n, func(k, v *yaml.Node) {
		i := slices.IndexFunc(keys, func(known key[T]) bool { return known.name == k.Value })
		if i >= 0 {
			keys[i].read(r, k.Value, v, to)
			return
		}
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		if near := nearest(k.Value, names); near != "" {
			r.problem(k, "there is no key %s; did you mean %s?", quoted(k.Value), near)
			return
		}
		r.problem(k, "there is no key %s", quoted(k.Value))
		r.lost = true
	})
}

// keys are those of a task file.
var keys = []key[File]{
	{"prompt", func(r *reader, name string, v *yaml.Node, f *File) { f.Prompt = r.text(name, v) }},
	{"context", func(r *reader, name string, v *yaml.Node, f *File) { f.Brief.Context = r.text(name, v) }},
	{"goals", func(r *reader, name string, v *yaml.Node, f *File) { f.Brief.Goals = r.list(name, v, r.text) }},
	{"success_criteria", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Brief.SuccessCriteria = r.list(name, v, r.text)
	}},
	{"deliverables", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Brief.Deliverables = r.list(name, v, r.line)
	}},
	{"name", func(r *reader, name string, v *yaml.Node, f *File) { f.Name = r.line(name, v) }},
	{"model", func(r *reader, name string, v *yaml.Node, f *File) { f.Model = r.model(name, v) }},
	{"max_turns", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxTurns = r.count(name, v) }},
	{"estimated_duration", func(r *reader, name string, v *yaml.Node, f *File) { f.Estimated = r.line(name, v) }},
	{"permissions", func(r *reader, name string, v *yaml.Node, f *File) {
		if f.Permissions = supervisor.Permissions(r.line(name, v)); f.Permissions != "" {
			r.refuse(v, name, supervisor.CheckPermissions(f.Permissions))
		}
	}},
	{"allow", func(r *reader, name string, v *yaml.Node, f *File) { f.Allow = r.list(name, v, r.rule) }},
	{"deny", func(r *reader, name string, v *yaml.Node, f *File) { f.Deny = r.list(name, v, r.rule) }},
	{"answers", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Answers = r.answers(name, v)
		for i := range f.Answers {
			f.Answers[i].FromFile = true
		}
	}},
	{"accept_ids", func(r *reader, name string, v *yaml.Node, f *File) { f.AcceptIDs = r.list(name, v, r.line) }},
	{"hold", func(r *reader, name string, v *yaml.Node, f *File) {
		if v.ShortTag() == "!!int" && v.Value == "0" {
			f.Hold = v.Value
			return
		}
		if f.Hold = r.line(name, v); f.Hold != "" {
			_, err := supervisor.ParseHold(f.Hold)
			r.refuse(v, name, err)
		}
	}},

	{"children", func(r *reader, name string, v *yaml.Node, f *File) { f.Children = r.children(name, v, noParent, 1) }},
	{"each", func(r *reader, name string, v *yaml.Node, f *File) { f.Each = r.each(name, v) }},
	{"child", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Template = &Child{}
		readKeys(r, name, v, workKeys, f.Template)
		r.wantPrompt(v, f.Template)
	}},
	{"delegate", func(r *reader, name string, v *yaml.Node, f *File) {
		if text := r.line(name, v); text != "" {
			var err error
			f.Delegate, err = supervisor.ParseDelegates(text)
			r.refuse(v, name, err)
		}
	}},
	{"max_parallel", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxParallel = r.count(name, v) }},
	{"max_depth", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxDepth = r.count(name, v) }},
	{"max_agents", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxAgents = r.count(name, v) }},
	{"worktree", func(r *reader, name string, v *yaml.Node, f *File) { f.Worktree = r.truth(name, v) }},
	{"max_cost_usd", func(r *reader, name string, v *yaml.Node, f *File) { f.Budget.CostUSD = r.amount(name, v) }},
	{"max_tokens", func(r *reader, name string, v *yaml.Node, f *File) { f.Budget.Tokens = r.tokens(name, v) }},
	{"max_time", func(r *reader, name string, v *yaml.Node, f *File) { f.Budget.Time = r.duration(name, v) }},
}

// workKeys are those of the work of a child, whichever of several it is.
var workKeys = []key[Child]{
	{"name", func(r *reader, name string, v *yaml.Node, c *Child) { c.Name = r.line(name, v) }},
	{"prompt", func(r *reader, name string, v *yaml.Node, c *Child) { c.Prompt = r.text(name, v) }},
	{"context", func(r *reader, name string, v *yaml.Node, c *Child) { c.Brief.Context = r.text(name, v) }},
	{"goals", func(r *reader, name string, v *yaml.Node, c *Child) { c.Brief.Goals = r.list(name, v, r.text) }},
	{"success_criteria", func(r *reader, name string, v *yaml.Node, c *Child) {
		c.Brief.SuccessCriteria = r.list(name, v, r.text)
	}},
	{"deliverables", func(r *reader, name string, v *yaml.Node, c *Child) {
		c.Brief.Deliverables = r.list(name, v, r.line)
	}},
	{"priority", func(r *reader, name string, v *yaml.Node, c *Child) { c.Priority = r.oneOf(name, v, "P0", "P1", "P2") }},
	{"independence", func(r *reader, name string, v *yaml.Node, c *Child) {
		c.Independence = r.oneOf(name, v, "can_proceed_parallel", "blocks_current_work", "optional")
	}},
	{"subagent_type", func(r *reader, name string, v *yaml.Node, c *Child) {
		if c.Type = r.line(name, v); c.Type != "" {
			r.refuse(v, name, supervisor.CheckAgentType(c.Type))
		}
	}},
	{"model", func(r *reader, name string, v *yaml.Node, c *Child) { c.Model = r.model(name, v) }},
	{"max_turns", func(r *reader, name string, v *yaml.Node, c *Child) { c.MaxTurns = r.count(name, v) }},
	{"estimated_duration", func(r *reader, name string, v *yaml.Node, c *Child) { c.Estimated = r.line(name, v) }},
	{"max_cost_usd", func(r *reader, name string, v *yaml.Node, c *Child) { c.Budget.CostUSD = r.amount(name, v) }},
	{"max_tokens", func(r *reader, name string, v *yaml.Node, c *Child) { c.Budget.Tokens = r.tokens(name, v) }},
	{"max_time", func(r *reader, name string, v *yaml.Node, c *Child) { c.Budget.Time = r.duration(name, v) }},
}

// model reads the name of a model.
func (r *reader) model(name string, v *yaml.Node) string {
	model := r.line(name, v)
	if model != "" {
		r.refuse(v, name, supervisor.CheckModel(model))
	}
	return model
}
