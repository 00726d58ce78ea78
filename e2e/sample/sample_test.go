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

// Of the seeds between two multiples of n, each case is in exactly one part, and the parts are of one size.
func TestThePartsOfAFewCommitsAreTheWhole(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
	for round := range 5 {
		var played []string
		for step := range 6 {
			t.Setenv("CLAUDE_SUPERVISE_TEST_SEED", strconv.Itoa(round*6+step))
			part := Part("it", all, 6)
			if testing.Short() && (len(part) < 1 || len(part) > 2) {
				t.Errorf("seed %d plays %v", round*6+step, part)
			}
			played = append(played, part...)
		}
		slices.Sort(played)
		if testing.Short() && !slices.Equal(played, all) || !slices.Equal(slices.Compact(played), all) {
			t.Errorf("round %d plays %v", round, played)
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
