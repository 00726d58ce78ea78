package main

import (
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/examples"
	"claude-supervise/examples/standin"
)

// newStandIn is the built-in scripted agent: what `run --demo` starts in claude's place. It is not for people.
func newStandIn() *cobra.Command {
	return &cobra.Command{
		Use:                "stand-in SCENARIO [CLAUDE FLAGS]",
		Short:              "play a scenario in claude's place",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("stand-in takes a scenario")
			}
			scenario, err := examples.Load(args[0])
			if err != nil {
				return exitcode.UsageError{Err: err}
			}
			code := standin.Main(cmd.Context(), scenario, args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
			return exitcode.Error(code)
		},
	}
}
