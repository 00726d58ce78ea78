package procs

import (
	"slices"
	"strings"
)

// reserved are the flags of the CLI that a launch sets itself, or that would take its streams or conversation away.
var reserved = []string{
	"-p", "--print", "--input-format", "--output-format", "--permission-prompt-tool", "--session-id",
	"-r", "--resume", "-c", "--continue", "--from-pr", "--fork-session", "--no-session-persistence",
	"-h", "--help", "-v", "--version", "--bg", "--background",
}

// Reserved gives the first of the person's own flags that a launch cannot take, "" if there is none.
func Reserved(flags []string) string {
	for _, flag := range flags {
		name, _, _ := strings.Cut(flag, "=")
		if slices.Contains(reserved, name) {
			return name
		}
	}
	return ""
}

// programs are the flags of the CLI that name programs to run, or files that may.
var programs = []string{"--mcp-config", "--settings", "--setting-sources", "--plugin-dir", "--plugin-url", "--agents"}

// WithoutPrograms gives the flags but for those that name programs to run, or files that may, and these with their values.
func WithoutPrograms(flags []string) (kept, dropped []string) {
	dropping := false
	for _, flag := range flags {
		if strings.HasPrefix(flag, "-") {
			name, _, _ := strings.Cut(flag, "=")
			dropping = slices.Contains(programs, name)
		}
		if dropping {
			dropped = append(dropped, flag)
		} else {
			kept = append(kept, flag)
		}
	}
	return kept, dropped
}
