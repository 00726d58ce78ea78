package commands

import (
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/service"
)

// Ps makes the command that lists runs.
func (p Program) Ps(cmd *cobra.Command) *cobra.Command {
	l := runs.Listing{Program: p.Name, Elsewhere: !p.local()}
	watch := false
	cmd.Args = help.Exactly(0, 0, "no arguments")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if l.IDs && (l.Tree || l.AsJSON || watch) && p.local() {
			return exitcode.Usage("-q prints ids alone: it does not go with --tree, --watch and --json")
		}
		l, err := l.Below(l.Cwd)
		if err != nil {
			return err
		}
		if p.local() {
			l.Run, l.Inside = doctor.InsideRun(os.Environ())
		}
		return p.with(cmd.Context(), func(s service.Runs) error { return l.Show(cmd.Context(), s, watch) })
	}
	cmd.Flags().BoolVarP(&l.All, "all", "a", false, "also list runs that have ended")
	cmd.Flags().BoolVar(&l.AsJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVarP(&l.IDs, "ids", "q", false, "print only the ids, one per line")
	if p.local() {
		cmd.Flags().BoolVar(&l.Tree, "tree", false, "list the agents of each run below it")
		cmd.Flags().BoolVarP(&watch, "watch", "w", false, "update the list when something changes")
		cmd.Flags().StringVar(&l.Cwd, "cwd", "", "list only runs in or below `DIR`")
		CompletesFolder(cmd, "cwd")
	}
	return p.command(cmd)
}
