package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/release"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  claude-supervise version",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), release.Line(string(thisProgram)))
	return err
}
