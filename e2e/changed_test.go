package e2e

import (
	"strings"
	"testing"
)

func TestTheEndOfARunSaysOnATerminalHowToSeeWhatItChanged(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	const hint = "To see what it changed, run:"
	for _, test := range []struct {
		answer  string
		changed bool
	}{{"allow", true}, {"deny", false}} {
		s := w.sit(nil, "run", "--cwd", ".", "--demo", "permission-edit")
		s.asked("version.txt")
		s.types(test.answer + "\r")
		s.ends()
		if seen := string(s.seen); strings.Contains(seen, hint) != test.changed {
			t.Errorf("after %s the end is\n%s", test.answer, seen)
		}
	}
	_, _, stderr := w.run("run", "--cwd", ".", "--demo", "permission-edit")
	if strings.Contains(stderr, hint) {
		t.Errorf("in a pipe the end is\n%s", stderr)
	}
}
