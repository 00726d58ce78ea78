package commands

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
)

// theFleet are the flags that say which fleet is meant, which most commands have.
var theFleet = help.Group{Title: "Which fleet", Names: "address namespace api-key key store"}

// flagGroups are the groups in which commands list their flags: those of a run are as in `claude-supervise run`.
var flagGroups help.Grouping = func(cmd *cobra.Command) []help.Group {
	if cmd.Flags().Lookup("permissions") == nil {
		return []help.Group{theFleet}
	}
	return []help.Group{
		{Title: "What", Names: "file check model exec each demo repo ref name worktree label lease failed"},
		{Title: "Answers", Names: "hold max-held answer answers accept-id relaunch"},
		{Title: "Permissions", Names: "permissions allow"},
		{Title: "Limits", Names: "max-cost-usd max-tokens max-time max-turns retries silent-after on-silence"},
		{Title: "Delegation", Names: "delegate max-parallel max-depth max-agents"},
		{Title: "Display", Names: "json help"},
		theFleet,
	}
}
