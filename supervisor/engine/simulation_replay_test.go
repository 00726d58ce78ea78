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
	_, found := simulate(t, s, 132, schedules, func(found []finding) bool { return len(found) > 0 })
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

		"88005354-1-2-4-6-10-11-12-13":            "a power cut undid that a dropped message was on its way again",
		"123009512-3-6-8-9-10-11-12-13":           "a parent reads in its child's status which command runs for it",
		"123013672-1-2-6-8-9-10-11-12-13":         "a stop of all was narrowed by a later one of the agent alone",
		"123006575-3-6-8-11-12-13":                "a group that was stopped alone waited for a child over its budget",
		"710027550-1-5-6-7-8-9-10-11-12-13":       "an import took out an agent, and the next had the place of another",
		"111012964-1-4-6-7-8-9-10-11-12-13":       "what was still written to a process that is gone was not cut short",
		"740013659-1-3-5-6-7-8-9-10-11-12-13":     "an agent whose worktree did not come along ran on",
		"740020159-1-2-3-4-5-6-7-8-9-10-11-12-13": "a script that had escalated was heard for another agent's",
		"740029680-2-3-5-6-7-8-9-10-11-12-13":     "an agent that had reported held the slot of its nested run",
		"740111808-1-3-4-6-8-9-10-11-12-13":       "a group that was stopped alone did not hear that its last child is stopped",
		"740120856-1-3-9-10-11-12-13":             "nobody was asked about the budget of a child after which others of a stopped group come",
		"760107485-2-3-6-7-8-9-10-11-12-13":       "a message to a child that had not begun was lost with its approval, as its run was unpacked",
		"740185810-2-3-8-11-12-13":                "an answer that a script had taken before its run was packed was told once more",
		"740194644-2-3-4-5-6-7-8-9-10-11-12-13":   "a process was swept while the sweep of the one before was in flight",
		"760102363-3-6-7-8-9-10-11-12-13":         "an answer file came while the inbox was taken before leaving, and nobody looked again",
		"760209783-2-4-7-8-9-10-11-12-13":         "a script took another's answer, and the one that counts was taken for delivered",
		"761105105-3-4-5-6-7-8-9-10-11-12-13":     "an answer was dropped for a script that had taken another, and counted as taken",
		"762099068-1-2-3-4-5-9-10-11-12-13":       "an agent that was stopped alone began again, and was not told what it had delegated",
		"762014254-2-5-6-7-8-9-10-11-12-13":       "an unpacked approval counted clients that are gone",
		"763003938-4-5-6-7-8-9-10-11-12-13":       "what a forked conversation had begun with counted as told to who asks the same in it",
		"763033611-2-3-4-7-10-11-12-13":           "a script's question that became the agent's was asked, though all alike were answered",
		"763034035-1-5-6-7-10-11-12-13":           "what a script took was lost with a later turn, in which its agent had reported",
		"760139815-2-3-5-6-7-8-9-10-11-12-13":     "a subagent that waited for a command counted as at work, and its process kept its budget",
		"763098367-1-3-4-5-6-7-8-9-10-11-12-13":   "a budget raised to no more than was used stayed asked under a question that had its answer",
		"765004159-1-5-10-11-12-13":               "what a script took was lost with the report after it, though its agent had more to read",
		"767039003-8-9-10-11-12-13":               "an answer was forgotten that was read two turns ago, with the machine asleep between",
		"768213878-1-4-7-8-9-10-11-12-13":         "the answer to what an unpacked run asked anew was taken for the one before",
		"768222958-2-3-5-10-11-12-13":             "what a blocked agent was told by a run that was unpacked stood for another answer",
		"768017582-3-7-8-9-10-11-12-13":           "nobody waited for a snapshot to be tried again after the machine had slept",
		"769015142-2-3-7-8-9-10-11-12-13":         "a snapshot that took too long to capture held nothing back any more",
		"767050114-1-4-5-7-8-9-12-13":             "the subagents of a model asked on and on",
		"770246488-2-4-5-6-7-8-9-10-11-12-13":     "a process was ended that had been swept, and whose end waited behind a stop",
		"770246773-1-4-5-7-10-11-12-13":           "an agent whose report was found after its hook had answered stayed parked",
		"774019808-2-3-4-5-6-7-8-9-10-11-12-13":   "a report with something missing was answered though the budget was used up",
		"774049832-2-3-8-9-10-11-12-13":           "an agent whose subagents' deliverables are looked for has no process",
		"830003740-4-5-6-8-9-10-11-12-13":         "a fork whose conversation was lost later began that of the other run again",
		"776030865-1-3-6-7-8-9-10-11-12-13":       "a denial after all was on its way at once",
		"776031277-2-3-4-6-11-12-13":              "a person stopped an agent whose budget had failed it",
		"780021587-1-6-9-10-11-12-13":             "a question of a script that is gone was answered like another",
		"781087766-1-4-5-6-7-8-9-10-11-12-13":     "the news that a client had told an end was lost where the run was taken over",
		"785026561-1-2-4-6-7-8-9-10-11-12-13":     "results that a hook refused counted as told, where their process was being ended",
		"786002334-3-4-7-8-10-11-12-13":           "an answer that was asked for anew counted as told by what told the one before it",
		"790001484-1-2-4-5-7-8-9-10-11-12-13":     "an answer that was read as a result, and no more, was told again",
		"795074456-1-2-6-7-8-9-10-11-12-13":       "what a script took was lost with its turn, which ended before its process did",
		"797228180-1-3-4-8-10-11-12-13":           "a child had another parent at its second end",
		"794004379-1-3-5-7-8-9-10-11-12-13":       "who had reported what it assumed was revived, and reported no more",
		"793008187-2-3-8-10-11-12-13":             "an answer was changed that a script which started over had in its file",
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
