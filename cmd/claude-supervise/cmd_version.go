package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is set by the build of a release (.goreleaser.yaml).
var version = "dev"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  claude-supervise version",
		Args:    exactly(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
	return err
}

func versionLine() string { return "claude-supervise " + version + builtFrom() }

// builtFrom returns " (COMMIT, its date)", with "changed since" where files were. It returns "" where the build did not
// see git.
func builtFrom() string {
	info, _ := debug.ReadBuildInfo() // nil without modules
	if info == nil {
		return ""
	}
	vcs := map[string]string{}
	for _, s := range info.Settings {
		vcs[s.Key] = s.Value
	}
	if len(vcs["vcs.revision"]) < 12 {
		return ""
	}
	date, _, _ := strings.Cut(vcs["vcs.time"], "T")
	about := vcs["vcs.revision"][:12] + ", " + date
	if vcs["vcs.modified"] == "true" {
		about += ", changed since"
	}
	return " (" + about + ")"
}
