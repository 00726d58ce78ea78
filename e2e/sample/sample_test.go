package sample

import (
	"slices"
	"strconv"
	"testing"
)

// Of the seeds between two multiples of n, each case is drawn by exactly one.
func TestEachCaseIsPlayedWithinAFewCommits(t *testing.T) {
	for _, n := range []uint32{2, 4, 6, 16} {
		for _, name := range []string{"ask", "real ask", "a hook of the folder's settings"} {
			for round := range uint32(5) {
				var drawn []uint32
				for step := range n {
					t.Setenv("CLAUDE_SUPERVISE_TEST_SEED", strconv.Itoa(int(round*n+step)))
					drawn = append(drawn, draw(name, n))
				}
				slices.Sort(drawn)
				if len(slices.Compact(drawn)) != int(n) {
					t.Errorf("%s, one of %d: the seeds of round %d draw %v", name, n, round, drawn)
				}
			}
		}
	}
}

// A case that is drawn from within another that was drawn comes up, too, and soon.
func TestWhatIsDrawnWithinWhatWasDrawnIsPlayedToo(t *testing.T) {
	for _, name := range []string{"ask", "tool-ask", "permission", "several", "question-in-many-words"} {
		inner := map[uint32]int{}
		for seed := range 40 {
			t.Setenv("CLAUDE_SUPERVISE_TEST_SEED", strconv.Itoa(seed))
			if draw("real "+name, 2) == 0 {
				inner[draw(name, 2)]++
			}
		}
		if inner[0] < 3 || inner[1] < 3 {
			t.Errorf("%s: of its two cases one is played %d times in 40 commits, the other %d times",
				name, inner[0], inner[1])
		}
	}
}
