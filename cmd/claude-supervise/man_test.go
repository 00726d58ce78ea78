package main

import (
	"testing"

	"claude-supervise/cmd/internal/manual"
)

// The man pages are made by tests, so that the program does not carry what makes them (make manual). That of fleet is
// of the program that has the commands of a fleet.
func TestEachCommandAndTopicHasAManPage(t *testing.T) {
	m := manual.Manual{Root: newRoot(), Grouping: flagGroups, Elsewhere: []string{"claude-supervise fleet"}}
	for _, page := range topics() {
		m.Topics = append(m.Topics, manual.Topic{Name: page.name, About: page.about, Text: page.text})
	}
	m.Check(t, map[string][]string{
		"claude-supervise.1": {"NAME claude-supervise - supervise headless Claude Code, and never lose a question SYNOPSIS", "claude-supervise-limits(7)",
			"  1  failed, or refused             70  internal error\n", "75  parked, waiting for a person\n",
			"claude-supervise-run(1)", "claude-supervise-fleet(1)"},
		"claude-supervise-run.1": {"Bash(git log:*), Edit(/docs/**), WebFetch(domain:go.dev)", "mcp__github",
			"[PROMPT | -] [-f TASK.yaml] [flags] [-- CLAUDE FLAGS...]", "max_cost_usd, max_tokens",
			"\n         claude-supervise run --demo ask\n"},
		"claude-supervise-answer.1":         {"~/.claude/questions/pending/ID.json", "workflow_1729350000_q1"},
		"claude-supervise-doctor.1":         {"folders:\n         ~/work/api: {max_cost_usd: 20}\n"},
		"claude-supervise-completion-zsh.1": {`> "${fpath[1]}/_claude-supervise"`},
		"claude-supervise-limits.7":         {"You can refuse only what Claude Code asks about", "\nMachines\n"},
		"claude-supervise-exit-codes.7":     {"claude-supervise-exit-codes - what run, resume and wait return"},
		"claude-supervise-fleet.7":          {"runs on more than one machine"},
	})
}
