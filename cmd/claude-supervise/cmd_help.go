package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/help"
)

func newHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "show help for a command or topic",
		Long: `Show the help for a command or topic. claude-supervise --help lists both. help
COMMAND has all that there is to say of a command, and COMMAND --help the most
needed. What is longer than the terminal is shown in $PAGER (default: less);
PAGER=cat prints it.`,
		Example: "  claude-supervise help run\n  claude-supervise help trust\n  claude-supervise help limits | grep -i macos",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, all := cmd.Root(), topics()
			// A topic that has the name of a command tells more than the command's --help.
			i := slices.IndexFunc(all, func(t topic) bool { return len(args) == 1 && t.name == args[0] })
			if of, rest, err := root.Find(args); i < 0 && err == nil && len(rest) == 0 {
				of.InitDefaultHelpFlag()
				if !of.HasParent() {
					return page(briefly(of))
				}
				return page(help.Whole(of))
			}
			if i < 0 {
				name := strings.Join(args, " ")
				return usage("there is no command or topic %q; `claude-supervise help` lists them%s", name,
					suggestion(withTopics(root, all), name))
			}
			return page(all[i].plain())
		},
	}
	completion.Arguments(cmd, func(_ context.Context, args []string) (found completion.Words) {
		if len(args) == 0 {
			for _, c := range withTopics(cmd.Root(), topics()).Commands() {
				found.Add(c.Name(), c.Short)
			}
		}
		return found
	})
	return cmd
}

// withTopics returns a command that has the names of all that help takes, and does nothing.
func withTopics(root *cobra.Command, all []topic) *cobra.Command {
	names := &cobra.Command{SuggestionsMinimumDistance: root.SuggestionsMinimumDistance}
	taken := map[string]bool{} // a topic may have the name of a command
	add := func(name, about string) {
		if taken[name] {
			return
		}
		taken[name] = true
		names.AddCommand(&cobra.Command{Use: name, Short: about, Run: func(*cobra.Command, []string) {}})
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			add(c.Name(), c.Short)
		}
	}
	for _, t := range all {
		add(t.name, t.about)
	}
	return names
}
