// Package commands are the commands over runs and questions, for each program that has a service of them: the one for
// this machine, and the one for a fleet. A command is written once. What a service cannot do is no flag of it: that is
// asked of the service (service.Can), never of the program. A program gives the help of a command, which says whose
// runs they are.
package commands

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/service"
)

// A Program is what the commands of a program have in common.
type Program struct {
	Name runs.Program
	Of   string       // whose runs the flags are about: " of the fleet", or ""
	Can  service.Runs // says what the service can, and is not opened

	// Open opens the service; close lets it go.
	Open func(ctx context.Context) (s service.Runs, closed func(), err error)
	// Flags adds the flags that say which service is meant; nil: there is one.
	Flags func(*pflag.FlagSet)
	// NotInside refuses what an agent must not do.
	NotInside func(*cobra.Command) error
}

// with has do use the service, and returns what do returns.
func (p Program) with(ctx context.Context, do func(service.Runs) error) error {
	s, closed, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer closed()
	return do(s)
}

// command adds the flags of the program to a command.
func (p Program) command(cmd *cobra.Command) *cobra.Command {
	if p.Flags != nil {
		p.Flags(cmd.Flags())
	}
	return cmd
}

// local reports whether the runs are on this machine, and their agents are named one by one.
func (p Program) local() bool { return service.Can[service.Local](p.Can) }

// least is how many ids its commands take at least: on one machine a run may be meant without.
func (p Program) least() int {
	if p.local() {
		return 0
	}
	return 1
}

// takes names what ids are of.
func (p Program) takes(runs, agents string) string {
	if p.local() {
		return runs + agents
	}
	return runs
}

// completes makes the arguments of a command complete, where what completes them is on this machine.
func (p Program) completes(cmd *cobra.Command, by ...Completer) *cobra.Command {
	if p.local() {
		return Completes(cmd, by...)
	}
	return cmd
}
