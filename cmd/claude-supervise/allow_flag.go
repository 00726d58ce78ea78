package main

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// allowFlag writes the flag that permits in advance what a rule permits, as it is typed in a shell.
func allowFlag(rule string) string {
	quoted, err := syntax.Quote(rule, syntax.LangPOSIX)
	if err != nil { // it holds what POSIX cannot write on one line
		quoted, err = syntax.Quote(rule, syntax.LangBash)
	}
	if err != nil {
		return ""
	}
	return "--allow " + quoted
}

// inAdvance says how a call is permitted in advance; rule is the one that does, "" if none can.
func inAdvance(rule string) string {
	if rule != "" {
		if flag := allowFlag(rule); flag != "" {
			return flag
		}
	}
	return "no rule can; it is asked about each time"
}

// letThrough says, of a run that waits for permissions, which flags would have given them in advance.
func letThrough(open []*supervisor.Question) string {
	var lines []string
	for _, q := range open {
		v := view.View(q)
		line := "  " + inAdvance(v.AllowRule)
		if v.AllowRule == "" {
			line = "  " + q.ID + ": " + inAdvance("")
		}
		if v.Kind == client.AskPermission && len(lines) < maxEnding {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\nTo permit it in advance, start a run with:\n" + strings.Join(lines, "\n")
}
