package commands

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/view"
)

func TestTheLastNoteOfARunIsListed(t *testing.T) {
	listed := runTable(80, []flow.Listed{
		{RunView: view.RunView{ID: "r-abcd1234", Status: "running", Reason: "a turn is under way"}, Worker: "one",
			Notes: []string{"worker two was not heard from", "no snapshot of it can be taken: \x1b[31mdisk full; " +
				strings.Repeat("it is tried again ", 6)}},
		{RunView: view.RunView{ID: "r-abcd5678", Status: "queued", Reason: "it waits for a worker"}},
	}, time.Now())
	if !strings.Contains(listed, "note: no snapshot of it can be taken") || strings.Contains(listed, "two was not heard") ||
		strings.Contains(listed, "\x1b") || strings.Count(listed, "note:") != 1 {
		t.Errorf("they are listed as\n%s", listed)
	}
	for line := range strings.Lines(listed) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
			t.Errorf("a line is too long: %s", line)
		}
	}
}
