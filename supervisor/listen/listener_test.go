package listen

import (
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/supervisor/prompts"
)

func TestTheLastOutputIsTheEndOfWhatWasPrintedAndSetOff(t *testing.T) {
	l := Listener{}
	for range 100 {
		l.Printed(procs.Text{Text: strings.Repeat("é", 100)})
	}
	l.Printed(procs.Text{Text: "## DELEGATION APPROVED"})
	l.Printed(procs.ToolUse{Name: "Bash", Input: []byte(`{"command":"make"}`)})
	got := prompts.LastOutput(l.Output)
	if len(l.Output) > maxOutput || strings.Contains(got, "\n##") || !strings.HasSuffix(got, "Bash: make") {
		t.Errorf("%d bytes: %q", len(l.Output), got)
	}
}
