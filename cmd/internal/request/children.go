package request

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
)

// maxStated bounds the texts of all stated tasks together, in bytes.
const maxStated = 64 << 20

// applyLimits puts the limits of a task file under those of the person: those that the person has set, and the
// defaults, it makes narrower. What would make a default wider counts only where all of the file does; else it is given
// back, to be told.
func applyLimits(cfg *conf.Config, file taskfile.File, given func(flag string) bool, all bool) (wishes []string) {
	wish := func(format string, args ...any) { wishes = append(wishes, fmt.Sprintf(format, args...)) }
	for _, limit := range []struct {
		flag string
		of   *int
		file int
	}{
		{"max-parallel", &cfg.MaxParallel, file.MaxParallel}, {"max-depth", &cfg.MaxDepth, file.MaxDepth},
		{"max-agents", &cfg.MaxAgents, file.MaxAgents},
	} {
		switch {
		case limit.file == 0:
		case *limit.of == 0 || limit.file < *limit.of, all && !given(limit.flag):
			*limit.of = limit.file
		case limit.file > *limit.of && !given(limit.flag):
			wish("%s %d", strings.ReplaceAll(limit.flag, "-", "_"), limit.file)
		}
	}
	if narrower := cfg.Delegate.Within(file.Delegate); len(file.Delegate) > 0 {
		switch {
		case all && !given("delegate"):
			narrower = file.Delegate
		case !given("delegate") && !slices.Equal(narrower, file.Delegate):
			wish("delegate %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(file.Delegate), "[]"), " ", ","))
		}
		cfg.Delegate = narrower
	}
	if all {
		cfg.AcceptIDs = append(cfg.AcceptIDs, file.AcceptIDs...)
	} else if len(file.AcceptIDs) > 0 {
		wish("accept_ids %s", strings.Join(file.AcceptIDs, " "))
	}
	cfg.Worktree = cfg.Worktree || file.Worktree
	cfg.Budget = conf.Lower(cfg.Budget, file.Budget)
	return wishes
}

// state gives the order the children that the task file states, or those of a pool, and sees that they keep within the
// limits.
func (o *Request) state(ctx context.Context, f Flags, file taskfile.File, given func(flag string) bool) error {
	// a script's empty variable, say: else the agent would read {item}
	if given("each") && strings.TrimSpace(f.each) == "" {
		return usage("--each takes a COMMAND that prints the items, and is empty; nothing was started")
	}
	pool, err := o.pool(ctx, f, file)
	if err != nil {
		return err
	}
	o.Children = append(taskfile.Work(file.Children, file.Brief.Context), pool...)
	if len(o.Children) == 0 {
		return nil
	}
	if err := o.bound(file, given, slices.Contains(f.allow, allowTask)); err != nil {
		return err
	}
	if o.Prompt != "" && (file.Template != nil || len(file.Children) > 0) {
		return nil // its agent begins when they have ended
	}
	switch b := file.Brief; {
	case o.Prompt == "" && len(b.Goals)+len(b.SuccessCriteria)+len(b.Deliverables) > 0:
		return usage("the task has no prompt, so nobody reads its goals, success_criteria or deliverables;\n" +
			"write them to the children, or give a prompt: its agent begins when they have ended")
	case !slices.ContainsFunc(o.Children, func(c task.Child) bool {
		return c.Parent == "" && c.Said.Independence != task.Optional
	}):
		return usage("all children are optional and there is no prompt, so nothing would be waited for; nothing was started")
	}
	o.Group, o.Prompt, o.Brief = true, described(o.Children), task.Brief{}
	return nil
}

// bound sees that stated children keep within the limits. Of the default for agents they take nothing: it is about what
// agents add. How deep agents go is the person's to widen.
func (o *Request) bound(file taskfile.File, given func(flag string) bool, all bool) error {
	depth, text := deepest(o.Children), 0
	for _, c := range o.Children {
		text += len(c.Task)
	}
	cfg := &o.Config
	switch {
	case text > maxStated:
		return usage("the texts of the %d tasks are longer than %d MiB together; put the material in files and name them",
			len(o.Children), maxStated>>20)
	case cfg.MaxDepth == 0:
	case all && !given("max-depth") && file.MaxDepth == 0:
		cfg.MaxDepth = max(cfg.MaxDepth, depth)
	case depth > cfg.MaxDepth && !given("max-depth") && (file.MaxDepth == 0 || file.MaxDepth > cfg.MaxDepth):
		return usage("the task has agents %d levels deep, and the default limit is %d;\n"+
			"nothing was started; to allow it: --max-depth %d, or --allow task", depth, cfg.MaxDepth, depth)
	case depth > cfg.MaxDepth:
		return usage("the task has agents %d levels deep, and %s is %d; nothing was started", depth,
			limitOf("max-depth", given), cfg.MaxDepth)
	}
	switch agents := len(o.Children) + 1; {
	case cfg.MaxAgents == 0:
	case !given("max-agents") && (file.MaxAgents == 0 || file.MaxAgents > cfg.MaxAgents):
		cfg.MaxAgents += len(o.Children)
	case agents > cfg.MaxAgents:
		return usage("the task has %d agents, and %s is %d; nothing was started", agents, limitOf("max-agents", given),
			cfg.MaxAgents)
	}
	return nil
}

// limitOf names a limit by where it stands.
func limitOf(flag string, given func(flag string) bool) string {
	if given(flag) {
		return "--" + flag
	}
	return strings.ReplaceAll(flag, "-", "_") + " of the task file"
}

// deepest is how deep the deepest of stated children stands, the root's being 1 deep.
func deepest(children []task.Child) int {
	depths := map[string]int{"": 0}
	deepest := 0
	for _, c := range children {
		depths[c.Agent] = depths[c.Parent] + 1
		deepest = max(deepest, depths[c.Agent])
	}
	return deepest
}

// described says to people what stated tasks are.
func described(children []task.Child) string {
	const most = 3
	var names []string
	for i, c := range children {
		if i == most {
			names = append(names, "…")
			break
		}
		name := c.Said.Name
		if name == "" {
			name = taskfile.Title(terminal.FirstLine(c.Task))
		}
		names = append(names, name)
	}
	if len(children) == 1 {
		return "1 task: " + names[0]
	}
	return fmt.Sprintf("%d tasks: %s", len(children), strings.Join(names, ", "))
}
