package main

import (
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/notices"
)

// newBanner shows a banner on the desktop: a process of its own, for what shows it may hang, and prints. It is not for
// people.
func newBanner() *cobra.Command {
	return &cobra.Command{
		Use:    bannerCommand,
		Short:  "show a banner, given as JSON on stdin, on the desktop",
		Hidden: true,
		Args:   help.Exactly(0, 0, "no arguments"),
		RunE:   func(*cobra.Command, []string) error { return notices.Show(os.Stdin, os.Stdout) },
	}
}

const bannerCommand = "banner"
