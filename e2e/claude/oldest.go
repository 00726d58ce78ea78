package claude

import "testing"

// oldestVariable names the environment variable that holds the path of the oldest release that agents may run in.
const oldestVariable = "CLAUDE_SUPERVISE_TEST_OLDEST_CLAUDE"

// Oldest returns the path of the real CLI in the oldest release that agents may run in. Without one the test is
// skipped, in CI it fails.
func Oldest(t testing.TB) string {
	t.Helper()
	return installed(t, oldestVariable)
}
