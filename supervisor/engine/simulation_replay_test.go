package engine

import (
	"maps"
	"runtime"
	"testing"
)

// What is left of a finding without the disturbances that have no part in it breaks the same rule, named by its plot
// alone.
func TestAFindingIsMadeSmaller(t *testing.T) {
	s := faulty(beforehand(confirm(true)))
	_, found := simulate(t, s, 37, schedules, func(found []finding) bool { return len(found) > 0 })
	if len(found) == 0 {
		t.Fatal("nothing is found")
	}
	small := found[0].smaller(t, s)
	p, err := parsePlot(small.plot.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.dropped) == 0 || !maps.Equal(p.dropped, small.dropped) {
		t.Errorf("%v is read as %v", small.plot, p)
	}
	if b := play(t, p, s, newReached(), nil); b == nil || *b != small.broken {
		t.Errorf("%v breaks %+v, and not %+v", p, b, small.broken)
	}
}

// These have broken a rule once. A schedule means something else as soon as the simulation throws its dice in another
// order; then it is one more among the others.
func TestSchedulesThatBrokeARule(t *testing.T) {
	for text, how := range map[string]string{
		"216719-1-4-5-6-7-8-9-10-11-12-13":   "a refusal was changed after its client had told the agent of it",
		"312463-4-5-6-7-8-9-10-11-12-13":     "an approval that starts its agent at once was changed while it was saved",
		"308883-2-3-6-8-12-13":               "an answer was forgotten that was read two short turns ago",
		"502976-1-2-4-5-6-7-8-9-10-11-12-13": "a busy process took the only place for one that is held",
	} {
		t.Run(text, func(t *testing.T) {
			p, err := parsePlot(text)
			if err != nil {
				t.Fatal(err)
			}
			if b := play(t, p, sound, newReached(), nil); b != nil {
				t.Errorf("%s: %s (%s)", b.rule, b.how, how)
			}
		})
	}
}

// What a seed gives does not depend on anything else: not on how many goroutines run at once, nor on what was played
// before.
func TestAScheduleIsTheSameWhenItIsPlayedAgain(t *testing.T) {
	seeds, times := uint64(50), 100
	if testing.Short() {
		seeds, times = 10, 10
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	told := func(seed uint64, processors int) []string {
		runtime.GOMAXPROCS(processors)
		return retell(t, plot{seed: seed}, sound)
	}
	for seed := range seeds {
		isSame(t, seed, told(seed, 1), told(seed, 2))
	}
	first := told(seeds, 1)
	for n := range times / fewer {
		isSame(t, seeds, first, told(seeds, 1+n%2))
	}
}

func isSame(t *testing.T, seed uint64, one, two []string) {
	t.Helper()
	for i := range max(len(one), len(two)) {
		if i >= len(one) || i >= len(two) || one[i] != two[i] {
			t.Fatalf("seed %d differs in line %d:\n%q\n%q", seed, i, one[i:min(i+3, len(one))], two[i:min(i+3, len(two))])
		}
	}
}
