//go:build race

package e2e

// raceFlags builds the program as the tests are built.
var raceFlags = []string{"-race"}
