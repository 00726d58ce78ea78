package e2e

import (
	"maps"
	"slices"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/sample"
)

// What agents of the oldest release may need of a person comes out as on the pinned one, whatever that has to do
// without. These are the ways in which it differs, and one play of each that others share: make releases plays all
// scenarios on all releases.
func TestWhatIsAskedComesOutTheSameOnTheOldestRelease(t *testing.T) {
	t.Parallel()
	plays := map[string]func(*testing.T){
		"two subagents wait when its process dies": func(t *testing.T) {
			s := load(t, "two-subagents-ask")
			w := newWorld(t)
			w.release(claude.Oldest(t), s, nil)
			run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
			for range s.Answers {
				run.until("question")
			}
			finishes(t, w, s, childDies(t, w, s, run))
		},
		"its conversation is gone": func(t *testing.T) {
			s := load(t, "ask")
			losesItsConversation(t, newWorld(t).release(claude.Oldest(t), s, nil), s)
		},
	}
	for name, holds := range map[string][]string{
		"ask":           {"forever", "0"}, // receipts by echoes alone
		"tool-ask":      {"forever"},
		"permission":    {"forever", "0"},
		"plan":          {"forever", "0"}, // the call has no path, and is made in any mode
		"no-report":     {"forever"},      // the gate without the last message
		"tools":         {"0"},            // the call is gone from its transcript
		"subagent-asks": {"forever", "0"},
		// It does not tell of what lives on, and loses that at the end of its input: the subagent is in the foreground.
		"background-subagent-asks": {"0"},
	} {
		for _, hold := range holds {
			plays[name+"/hold "+hold] = func(t *testing.T) {
				s, w := load(t, name), newWorld(t)
				w.release(claude.Oldest(t), s, nil)
				play(w, s, hold)
			}
		}
	}
	for _, name := range sample.Part(t.Name(), slices.Sorted(maps.Keys(plays)), 10) { // each takes its processor long
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plays[name](t)
		})
	}
}
