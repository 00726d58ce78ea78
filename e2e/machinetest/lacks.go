// Package machinetest skips tests for which a machine lacks something.
package machinetest

import (
	"os"
	"testing"
)

// Lacks ends a test that the machine lacks something for, which it says: elsewhere the test is skipped, in CI it fails.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
