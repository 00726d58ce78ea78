package web

import (
	"cmp"
	"strings"

	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// maxCalled is how much of a task stands for a name, in bytes.
const maxCalled = 60

// runCalled is what a person knows a run by: its name, or its task. Its id is what is left.
func (d drawer) runCalled(v view.RunView) string {
	task := ""
	if len(v.Agents) > 0 {
		task = v.Agents[0].Task
	}
	return cmp.Or(d.line(v.Name), d.begins(task), v.ID)
}

// agentCalled is what a person knows an agent by.
func (d drawer) agentCalled(a view.AgentView) string {
	return cmp.Or(d.line(a.Name), d.begins(a.Task), d.line(a.Who), a.ID)
}

// begins returns the beginning of a text, on a line.
func (d drawer) begins(of string) string {
	line := d.line(text.FirstLine(of))
	cut := text.Truncate(line, maxCalled)
	if cut == line {
		return line
	}
	if words := strings.LastIndexByte(cut, ' '); words > maxCalled/2 {
		cut = cut[:words]
	}
	return strings.TrimSpace(cut) + "…"
}
