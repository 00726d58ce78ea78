package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// inBackground begins a command that the turn does not wait for.
func (a *agent) inBackground(made call) (result, error) {
	dir := filepath.Dir(a.outputPath(""))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return result{}, fmt.Errorf("keep a command's output: %w", err)
	}
	output, err := os.CreateTemp(dir, "*.begun")
	if err != nil {
		return result{}, fmt.Errorf("keep a command's output: %w", err)
	}
	t, err := a.start(made, output)
	if err != nil {
		return result{}, err
	}
	path := a.outputPath(t.id)
	if err := os.Rename(output.Name(), path); err != nil {
		return result{}, fmt.Errorf("keep a command's output: %w", err)
	}
	a.tasks = append(a.tasks, t)
	a.tellTasks()
	a.message(doc{
		"type": "system", "subtype": "task_started", "task_id": t.id, "tool_use_id": t.call, "description": t.description,
		"is_backgrounded": true, "task_type": "local_bash",
	})
	data := bashData("")
	data["backgroundTaskId"] = t.id
	return result{
		text: fmt.Sprintf(
			"Command running in background with ID: %s. Output is being written to: %s. You will be notified when it "+
				"completes. "+
				"To check interim output, use Read on that file path.", t.id, path),
		data: data,
	}, nil
}

// tellTasks prints which background tasks live.
func (a *agent) tellTasks() {
	tasks := []doc{}
	for _, t := range a.tasks {
		tasks = append(tasks, doc{"task_id": t.id, "task_type": "local_bash", "description": t.description})
	}
	for _, s := range a.inBackgroundNow() {
		tasks = append(tasks, doc{"task_id": s.id, "task_type": "local_agent", "subagent_type": s.Kind,
			"description": s.Task})
	}
	a.message(doc{"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})
}

// taskEnded tells of a background task that has ended by itself, and queues the turn that this begins. A command that a
// turn waits for ends silently.
func (a *agent) taskEnded(t *task) {
	if !slices.Contains(a.tasks, t) {
		return
	}
	a.tasks = slices.DeleteFunc(a.tasks, func(other *task) bool { return other == t })
	_ = t.output.Close()
	status, path := "completed", a.outputPath(t.id)
	summary := fmt.Sprintf("Background command %q completed (exit code 0)", t.description)
	if code := t.status(); code != 0 {
		status = "failed"
		summary = fmt.Sprintf("Background command %q failed with exit code %d", t.description, code)
	}
	a.tellUpdate(t.id, status)
	a.tellEnd(t.id, t.call, status, summary, path)
	a.tellTasks()
	a.queue = append(a.queue, prompt{
		text:   notification(t.id, t.call, status, summary, path),
		origin: doc{"kind": "task-notification", "producer": "session-task"},
	})
}

func (a *agent) tellUpdate(id, status string) {
	a.message(doc{
		"type": "system", "subtype": "task_updated", "task_id": id,
		"patch": doc{"status": status, "end_time": time.Now().UnixMilli()},
	})
}

func (a *agent) tellEnd(id, call, status, summary, output string) {
	a.message(doc{
		"type": "system", "subtype": "task_notification", "task_id": id, "tool_use_id": call, "status": status,
		"output_file": output, "summary": summary,
	})
}

// killTask ends a background task together with the process.
func (a *agent) killTask(t *task) {
	t.kill()
	a.tasks = slices.DeleteFunc(slices.Clone(a.tasks), func(other *task) bool { return other == t })
	a.tellEnd(t.id, t.call, "stopped", t.description, "")
	a.tellUpdate(t.id, "killed")
	a.tellTasks()
}

// An orphan is background work of an earlier process that never ended.
type orphan struct {
	id, call string
	subagent string // what it was for, if it is a subagent
}

func (o orphan) summary() string {
	if o.subagent != "" {
		return fmt.Sprintf("Background agent %q didn't finish before the previous session ended", o.subagent)
	}
	return "Background shell command didn't finish before the previous session ended"
}

// tellOrphans tells of background work that ended with an earlier process.
func (a *agent) tellOrphans() {
	for _, o := range a.orphans {
		a.tellEnd(o.id, o.call, "stopped", o.summary(), "")
	}
}

// queueOrphans tells the model of them, in turns in which nothing is said: one for each command, one for all subagents.
func (a *agent) queueOrphans() {
	var ids, names []string
	text := ""
	for _, o := range a.orphans {
		if o.subagent == "" {
			a.queueSilently(notification(o.id, o.call, "stopped", o.summary(), ""))
			continue
		}
		ids, names = append(ids, "<task-id>"+o.id+"</task-id>\n"), append(names, fmt.Sprintf("%q (%s)", o.subagent, o.id))
		text = "<output-file>" + a.outputPath(o.id) + "</output-file>\n<status>stopped</status>\n<summary>" +
			o.summary() + "</summary>"
	}
	if len(ids) > 1 {
		text = fmt.Sprintf(
			"<status>stopped</status>\n<summary>%d background agents didn't finish before the previous session ended: "+
				"%s.</summary>",
			len(ids), strings.Join(names, ", "))
	}
	if len(ids) > 0 {
		a.queueSilently("<task-notification>\n" + strings.Join(ids, "") + text + "\n</task-notification>")
	}
	a.orphans = nil
}

func (a *agent) queueSilently(text string) {
	a.queue = append(a.queue, prompt{text: text, origin: doc{"kind": "task-notification"}, silent: true})
}

// notification is how the model is told of the end of a task.
func notification(id, call, status, summary, output string) string {
	if output != "" {
		output = "<output-file>" + output + "</output-file>\n"
	}
	return fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<tool-use-id>%s</tool-use-id>\n%s"+
		"<status>%s</status>\n<summary>%s</summary>\n</task-notification>",
		id, call, output, status, summary)
}
