package claude

import (
	"slices"

	"claude-supervise/procs"
)

// A streamTask is a task as output lines tell it, a hookTask as the Stop hook's input does.
type (
	streamTask struct {
		TaskID       string `json:"task_id"`
		TaskType     string `json:"task_type"` // local_bash, local_agent
		Description  string `json:"description"`
		Backgrounded *bool  `json:"is_backgrounded"`
		ToolUseID    string `json:"tool_use_id"`
		SubagentType string `json:"subagent_type"` // on a subagent's lines too
		SpawnDepth   int    `json:"spawn_depth"`
		Starter      string `json:"parent_task_id"` // the subagent that started this one
		LastTool     string `json:"last_tool_name"` // of a task_progress: the one that it calls
	}
	hookTask struct {
		ID          string `json:"id"`
		Type        string `json:"type"` // shell, subagent
		Description string `json:"description"`
		Command     string `json:"command"`
	}
)

// A task is one that lives.
type task struct {
	id, name  string
	subagent  bool
	uncertain bool // an agent that may as well be in the foreground: its release does not say
}

func (t streamTask) task() task {
	kind := t.TaskType
	switch kind {
	case "local_bash":
		kind = "shell"
	case "local_agent":
		kind = "subagent"
	}
	return task{id: t.TaskID, name: taskName(kind, t.Description), subagent: kind == "subagent",
		uncertain: kind == "subagent" && t.Backgrounded == nil}
}

func (t hookTask) task() task {
	what := t.Command
	if what == "" {
		what = t.Description
	}
	return task{id: t.ID, name: taskName(t.Type, what), subagent: t.Type == "subagent"}
}

func taskName(kind, what string) string { return procs.Cut(kind+": "+what, procs.MaxShown) }

// maxTasks bounds how many tasks are kept; a child that claims more is not believed.
const maxTasks = 10_000

// A background keeps what lives on outside turns, in whichever way the release tells it:
//
//	2.1.7    not at all
//	2.1.100  task_started and task_notification, for agents in the foreground too
//	2.1.200  the same, and the whole list in the Stop hook's input
//	2.1.329  the same, with is_backgrounded, and the whole list in background_tasks_changed
type background struct {
	tasks  []task
	listed bool // background_tasks_changed has been seen: nothing needs to be counted
}

// told takes a system line about tasks, and gives the new list if it has changed.
func (b *background) told(l *line) (changed procs.Background, ok bool) {
	before := b.list()
	t := l.streamTask
	switch l.Subtype {
	case "background_tasks_changed":
		b.listed = true
		b.tasks = nil
		for _, t := range l.Tasks {
			b.add(t.task())
		}
	case "task_started":
		if foreground := t.Backgrounded != nil && !*t.Backgrounded; !b.listed && !foreground {
			b.add(t.task())
		}
	case "task_notification":
		b.drop(func(old task) bool { return old.id == t.TaskID })
	}
	return b.since(before)
}

// replace takes the Stop hook's list, which is the truth at that moment.
func (b *background) replace(tasks []hookTask) {
	b.tasks = nil
	for _, t := range tasks {
		b.add(t.task())
	}
}

// turnEnded forgets, after a turn that was cut, the agents which may have been in the foreground: those were cut too,
// and old releases do not say so.
func (b *background) turnEnded(r procs.Result) (changed procs.Background, ok bool) {
	if r.Subtype == "success" {
		return procs.Background{}, false
	}
	before := b.list()
	b.drop(func(t task) bool { return t.uncertain })
	return b.since(before)
}

func (b *background) add(t task) {
	b.drop(func(old task) bool { return old.id == t.id })
	if len(b.tasks) < maxTasks {
		b.tasks = append(b.tasks, t)
	}
}

func (b *background) drop(which func(task) bool) { b.tasks = slices.DeleteFunc(b.tasks, which) }

// list returns the tasks; nil if there are none.
func (b *background) list() (tasks []procs.Task) {
	for _, t := range b.tasks {
		tasks = append(tasks, procs.Task{ID: t.id, Name: t.name, Subagent: t.subagent})
	}
	return tasks
}

func (b *background) since(before []procs.Task) (procs.Background, bool) {
	now := b.list()
	return procs.Background{Tasks: now}, !slices.Equal(before, now)
}
