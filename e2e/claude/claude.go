// Package claude gives tests the real CLI in the pinned release, and proves that the stand-in agent speaks as it does:
// each case of its tests is played by both, and what they print and keep must be the same but for names and times
// (testdata/*.txt, which was written down from the real CLI).
//
// The program is installed by make, outside the clone (package.json, install); a test that needs it asks Program.
package claude

import (
	"os"
	"testing"

	"claude-supervise/e2e/machinetest"
)

// Variable names the environment variable that holds the program's path.
const Variable = "CLAUDE_SUPERVISE_TEST_CLAUDE"

// Program returns the path of the real CLI. Without one the test is skipped, in CI it fails.
func Program(t testing.TB) string {
	t.Helper()
	return installed(t, Variable)
}

func installed(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		machinetest.Lacks(t, "%s is not set: run the tests by make test", variable)
	}
	return path
}

// Environment is a clean one for the real CLI, with a home of its own and the Messages API at this address: no account,
// no network, one retry of a failed request.
func Environment(home, api string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"SHELL=/bin/bash", // else its commands run in zsh where that is installed, which splits no words
		"ANTHROPIC_BASE_URL=" + api,
		"ANTHROPIC_API_KEY=scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1",
		"CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_TELEMETRY=1",
		"IS_SANDBOX=1", // else it refuses --dangerously-skip-permissions as root
	}
}
