package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags of commands that start or go on with a run are listed in these groups; those of other commands in one.
var flagGroups = []struct{ title, names string }{
	{"What", "file task-schema check model claude exec each continue demo cwd name worktree all failed dry-run " +
		"without-work max-size"},
	{"Answers", "on-question hold max-held answer answers accept-id relaunch"},
	{"Permissions", "permissions allow"},
	{"Limits", "max-cost-usd max-tokens max-time max-turns retries silent-after on-silence keep-processes"},
	{"Delegation", "delegate max-parallel max-depth max-agents"},
	{"Snapshots", "snapshots keep-snapshots"},
	{"Display", "detach plain quiet json notify notify-url no-notify log help"},
}

// flagUsages lists the flags of a command, at most width columns wide, as its help and its man page have them.
func flagUsages(cmd *cobra.Command, width int) string {
	flags := cmd.LocalFlags()
	if flags.Lookup("permissions") == nil {
		return "Flags:\n" + flags.FlagUsagesWrapped(width)
	}
	var groups []string
	for _, g := range flagGroups {
		group := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		group.SortFlags = false
		for name := range strings.FieldsSeq(g.names) {
			if f := flags.Lookup(name); f != nil {
				group.AddFlag(f)
			}
		}
		if group.HasFlags() {
			groups = append(groups, g.title+":\n"+group.FlagUsagesWrapped(width))
		}
	}
	return strings.Join(groups, "\n")
}
