package main

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
)

// Flags of commands that start or go on with a run are listed in these groups; those of other commands in one.
var flagGroups help.Grouping = func(cmd *cobra.Command) []help.Group {
	if cmd.Flags().Lookup("permissions") == nil {
		return nil
	}
	return []help.Group{
		{Title: "What", Names: "file task-schema check model claude exec each continue demo cwd name worktree all failed " +
			"dry-run without-work max-size"},
		{Title: "Answers", Names: "on-question hold max-held answer answers accept-id relaunch"},
		{Title: "Permissions", Names: "permissions allow"},
		{Title: "Limits", Names: "max-cost-usd max-tokens max-time max-turns retries silent-after on-silence keep-processes"},
		{Title: "Delegation", Names: "delegate max-parallel max-depth max-agents"},
		{Title: "Snapshots", Names: "snapshots keep-snapshots"},
		{Title: "Display", Names: "detach plain quiet json notify notify-url no-notify log help"},
	}
}
