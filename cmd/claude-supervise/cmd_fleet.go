package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/programs"
)

// fleetProgram is a program of its own, in a Go module of its own (cmd/claude-supervise-fleet): this one carries
// nothing of what runs a fleet.
const fleetProgram = "claude-supervise-fleet"

// newFleet hands its arguments to fleetProgram, which takes the place of this process: its output, its exit code and
// the signals that it gets are its own. Its help and its completions come from it, too.
func newFleet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet COMMAND",
		Short: "run agents on a fleet of machines",
		Long: `Run agents on a fleet of machines: one list of runs and questions for all of
them, and a run that continues elsewhere if its machine is lost.

This is a program of its own, ` + fleetProgram + `. It is looked for beside
claude-supervise, then in the absolute folders of $PATH. Its commands are listed
by claude-supervise fleet --help once it is there.`,
		Example: `  claude-supervise fleet --help
  claude-supervise fleet dev
  claude-supervise fleet run "Write a CHANGELOG for the last release"
  claude-supervise fleet questions`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			err := execFleet(args)
			if errors.Is(err, errNoFleet) && len(args) > 0 && slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
				return cmd.Help()
			}
			return err
		},
	}
	completion.Elsewhere(cmd, func(args []string, typed string) {
		if notInside(cmd) == nil {
			_ = execFleet(slices.Concat([]string{os.Args[1]}, args, []string{typed})) // __complete or __completeNoDesc
		}
	})
	return cmd
}

var errNoFleet = errors.New(fleetProgram + " is not installed")

// execFleet has fleetProgram take the place of this process. It returns only where that cannot be: errNoFleet where it
// is not there.
func execFleet(args []string) error {
	return programs.Exec(fleetProgram, args, func(folder string) error {
		return fmt.Errorf("%w: it is a program of its own, which runs agents on a fleet of machines. It is neither in "+
			"%s nor in an absolute folder of $PATH. Install the package %s of the release that `claude-supervise version` "+
			"names, or build it from the source of claude-supervise (`make fleet-build`); nothing was started",
			errNoFleet, folder, fleetProgram)
	})
}
