package taskfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
)

// A key is one that a map of a task file may have, and what is done with its value. task.schema.json says the same for
// editors; a test holds the two together.
type key[T any] struct {
	name string
	read func(r *reader, name string, value *yaml.Node, to *T)
}

// readKeys reads a map of these keys.
func readKeys[T any](r *reader, what string, n *yaml.Node, keys []key[T], to *T) {
	r.Pairs(what, n, func(k, v *yaml.Node) {
		i := slices.IndexFunc(keys, func(known key[T]) bool { return known.name == k.Value })
		if i >= 0 {
			keys[i].read(r, k.Value, v, to)
			return
		}
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		r.Unknown(k, names)
	})
}

// taskKeys are those that a task file and each child in it have.
var taskKeys = []key[Task]{
	{"prompt", func(r *reader, name string, v *yaml.Node, t *Task) { t.Prompt = r.Text(name, v) }},
	{"context", func(r *reader, name string, v *yaml.Node, t *Task) { t.Brief.Context = r.Text(name, v) }},
	{"goals", func(r *reader, name string, v *yaml.Node, t *Task) { t.Brief.Goals = r.List(name, v, r.Text) }},
	{"success_criteria", func(r *reader, name string, v *yaml.Node, t *Task) {
		t.Brief.SuccessCriteria = r.List(name, v, r.Text)
	}},
	{"deliverables", func(r *reader, name string, v *yaml.Node, t *Task) {
		t.Brief.Deliverables = r.List(name, v, r.Line)
	}},
	{"name", func(r *reader, name string, v *yaml.Node, t *Task) { t.Name = r.Line(name, v) }},
	{"model", func(r *reader, name string, v *yaml.Node, t *Task) { t.Model = r.Model(name, v) }},
	{"max_turns", func(r *reader, name string, v *yaml.Node, t *Task) { t.MaxTurns = r.Count(name, v) }},
	{"estimated_duration", func(r *reader, name string, v *yaml.Node, t *Task) { t.Estimated = r.Line(name, v) }},
	{"max_cost_usd", func(r *reader, name string, v *yaml.Node, t *Task) { t.Budget.CostUSD = r.Amount(name, v) }},
	{"max_tokens", func(r *reader, name string, v *yaml.Node, t *Task) { t.Budget.Tokens = r.Tokens(name, v) }},
	{"max_time", func(r *reader, name string, v *yaml.Node, t *Task) { t.Budget.Time = r.Duration(name, v) }},
}

// withTask returns the keys of what has a task in it: the task's, and its own.
func withTask[T any](task func(*T) *Task, own ...key[T]) []key[T] {
	var all []key[T]
	for _, k := range taskKeys {
		all = append(all, key[T]{k.name, func(r *reader, name string, v *yaml.Node, to *T) {
			k.read(r, name, v, task(to))
		}})
	}
	return append(all, own...)
}

// keys are those of a task file.
var keys = withTask(func(f *File) *Task { return &f.Task }, []key[File]{
	{"permissions", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Permissions = conf.Permissions(r.Checked(name, v, func(text string) error {
			return conf.CheckPermissions(conf.Permissions(text))
		}))
	}},
	{"allow", func(r *reader, name string, v *yaml.Node, f *File) { f.Allow = r.List(name, v, r.Rule) }},
	{"deny", func(r *reader, name string, v *yaml.Node, f *File) { f.Deny = r.List(name, v, r.Rule) }},
	{"answers", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Answers = r.answers(name, v)
		for i := range f.Answers {
			f.Answers[i].FromFile = true
		}
	}},
	{"accept_ids", func(r *reader, name string, v *yaml.Node, f *File) { f.AcceptIDs = r.List(name, v, r.Line) }},
	{"hold", func(r *reader, name string, v *yaml.Node, f *File) { f.Hold = r.Hold(name, v) }},

	{"children", func(r *reader, name string, v *yaml.Node, f *File) { f.Children = r.children(name, v, noParent, 1) }},
	{"each", func(r *reader, name string, v *yaml.Node, f *File) { f.Each = r.each(name, v) }},
	{"child", func(r *reader, name string, v *yaml.Node, f *File) {
		f.Template = &Child{}
		readKeys(r, name, v, workKeys, f.Template)
		r.wantPrompt(v, f.Template)
	}},
	{"delegate", func(r *reader, name string, v *yaml.Node, f *File) {
		if text := r.Line(name, v); text != "" {
			var err error
			f.Delegate, err = conf.ParseDelegates(text)
			r.Refuse(v, name, err)
		}
	}},
	{"max_parallel", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxParallel = r.Count(name, v) }},
	{"max_depth", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxDepth = r.Count(name, v) }},
	{"max_agents", func(r *reader, name string, v *yaml.Node, f *File) { f.MaxAgents = r.Count(name, v) }},
	{"worktree", func(r *reader, name string, v *yaml.Node, f *File) { f.Worktree = r.Truth(name, v) }},
}...)

// workKeys are those of the work of a child, whichever of several it is.
var workKeys = withTask(func(c *Child) *Task { return &c.Task }, []key[Child]{
	{"priority", func(r *reader, name string, v *yaml.Node, c *Child) { c.Priority = r.OneOf(name, v, "P0", "P1", "P2") }},
	{"independence", func(r *reader, name string, v *yaml.Node, c *Child) {
		c.Independence = r.OneOf(name, v, "can_proceed_parallel", "blocks_current_work", "optional")
	}},
	{"subagent_type", func(r *reader, name string, v *yaml.Node, c *Child) {
		if c.Type = r.Line(name, v); c.Type != "" {
			r.Refuse(v, name, task.CheckAgentType(c.Type))
		}
	}},
}...)
