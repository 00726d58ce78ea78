package claude

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// logs are what a session writes down: that of the main conversation in the order in which it comes, and beside it that
// of each subagent, and of what goes on by itself. They go on at the same time, and what comes first is a matter of
// luck.
type logs struct {
	by       map[string]*strings.Builder // "" for the main conversation
	tasks    map[string]string           // what each subagent is for, by its id
	started  map[string]string           // the same, by the call that started it
	calls    map[string]string           // whose log each call belongs to, by its id
	requests map[string]string           // the same, by the id of a control request
	apart    bool                        // a subagent is in the background: what it costs comes when it comes
}

func newLogs() *logs {
	return &logs{
		by: map[string]*strings.Builder{"": {}}, tasks: map[string]string{}, started: map[string]string{},
		calls: map[string]string{}, requests: map[string]string{},
	}
}

func (g *logs) main() *strings.Builder { return g.by[""] }

// String returns all logs, the main one first.
func (g *logs) String() string {
	var b strings.Builder
	for _, title := range slices.Sorted(maps.Keys(g.by)) {
		if title != "" {
			fmt.Fprintf(&b, "== %s\n", title)
		}
		b.WriteString(g.by[title].String())
	}
	return b.String()
}

// of returns the log that a line belongs to, and learns from the line whose the next ones are.
func (g *logs) of(l line) *strings.Builder {
	title := g.title(l)
	for _, c := range l.list("message", "content") {
		if c.text("type") == "tool_use" {
			g.calls[c.text("id")] = title
			if task := c.text("input", "description"); c.text("name") == "Agent" {
				g.started[c.text("id")] = task
			}
		}
	}
	if l.text("type") == "control_request" {
		g.requests[l.text("request_id")] = title
	}
	if g.by[title] == nil {
		g.by[title] = &strings.Builder{}
	}
	return g.by[title]
}

func (g *logs) title(l line) string {
	switch l.kind() {
	case "assistant", "user":
		return g.subagent(g.started[l.text("parent_tool_use_id")])
	case "system/task_started":
		if l.text("task_type") == "local_agent" {
			g.tasks[l.text("task_id")] = l.text("description")
			g.apart = g.apart || l["is_backgrounded"] == true
		}
		return g.subagent(g.tasks[l.text("task_id")])
	case "system/task_updated", "system/task_notification", "system/task_progress":
		return g.subagent(g.tasks[l.text("task_id")])
	case "system/background_tasks_changed":
		of := slices.IndexFunc(l.list("tasks"), func(t line) bool { return t.text("task_type") == "local_agent" })
		if of >= 0 || g.apart {
			return "background"
		}
	case "control_request/can_use_tool":
		return g.subagent(g.tasks[l.text("request", "agent_id")])
	case "control_request/mcp_message":
		if use := l.text("request", "message", "params", "_meta", "claudecode/toolUseId"); use != "" {
			return g.calls[use]
		}
		return "server"
	case "control_response":
		return g.requests[l.text("response", "request_id")]
	}
	return ""
}

func (g *logs) subagent(task string) string {
	if task == "" {
		return ""
	}
	return "subagent: " + task
}
