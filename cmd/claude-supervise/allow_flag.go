package main

import (
	"strings"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// letThrough says, of a run that waits for permissions, which flags would have given them in advance.
func letThrough(open []*supervisor.Question) string {
	var lines []string
	for _, q := range open {
		v := view.View(q)
		line := "  " + asking.InAdvance(v.AllowRule)
		if v.AllowRule == "" {
			line = "  " + q.ID + ": " + asking.InAdvance("")
		}
		if questions.KindOf(v.Kind).Ruled && len(lines) < maxEnding {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\nTo permit it in advance, start a run with:\n" + strings.Join(lines, "\n")
}
