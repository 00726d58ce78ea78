// Package release says which release of this project a program is of.
package release

import (
	"runtime/debug"
	"strings"
)

// version is set by the build of a release (.goreleaser.yaml).
var version = "dev"

// Version is that of the release; "dev" where it is none.
func Version() string { return version }

// Line names a program with its release, and with the commit that it was built from: "NAME 1.2.3 (COMMIT, its date)".
func Line(name string) string { return name + " " + version + builtFrom() }

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
