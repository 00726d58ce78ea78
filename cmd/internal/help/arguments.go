package help

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
)

// Exactly wraps cobra's count of arguments, so that a wrong count is a usage error that says what is taken.
func Exactly(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Takes(cmd, what)
		}
		return nil
	}
}

// Takes is the usage error of a command that has other arguments than what it takes.
func Takes(cmd *cobra.Command, what string) error {
	return exitcode.Usage("%s takes %s; `%s --help` has an example", cmd.Name(), what, cmd.CommandPath())
}
