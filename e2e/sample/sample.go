// Package sample chooses which cases of a long matrix a short test run (go test -short) plays. The seed chooses, so
// that a failure can be played again. The seeds of commits that follow each other play all cases: of n, each is played
// once from any multiple of n to the next. Without -short every case is played. Where there is no end of cases, the
// environment says how many.
package sample

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Has reports whether the case of this name is played: every one, or in a short run about one of n.
func Has(name string, n uint32) bool {
	return !testing.Short() || draw(name, n) == 0
}

// Pick returns the cases of this name that are played: all of them, or in a short run one.
func Pick[T any](name string, all []T) []T {
	if !testing.Short() || len(all) == 0 {
		return all
	}
	at := draw(name, uint32(len(all)))
	return all[at : at+1]
}

// Part returns the cases of this name that are played, in their order: all of them, or in a short run every nth, so
// that each seed plays as many, one more or less.
func Part[T any](name string, all []T, n uint32) (played []T) {
	if !testing.Short() {
		return all
	}
	for i := int(draw(name, n)); i < len(all); i += int(n) {
		played = append(played, all[i])
	}
	return played
}

// draw returns a number below n, which the name and the seed CLAUDE_SUPERVISE_TEST_SEED decide. From each seed to the
// next it is one more, so that n of them draw every number. At each multiple of n it begins elsewhere, so that what two
// names draw stays independent: a case may be drawn from within what was drawn.
func draw(name string, n uint32) uint32 {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CLAUDE_SUPERVISE_TEST_SEED"), "1"), 10, 64)
	if err != nil {
		panic("CLAUDE_SUPERVISE_TEST_SEED is not a number: " + err.Error())
	}
	round, step := seed/uint64(n), seed%uint64(n)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", round, name))
	return uint32((uint64(binary.BigEndian.Uint32(sum[:])) + step) % uint64(n))
}

// Number returns the number of 1 or more that stands in an environment variable, and otherwise where it is not set.
func Number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number of 1 or more", variable, text)
	}
	return n
}
