package commands

import (
	"strings"
	"testing"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/manual"
)

func TestEveryHelpHasAnExampleAndFits80Columns(t *testing.T) {
	root := newRoot(nil)
	root.InitDefaultHelpCmd()
	if n := len(root.Commands()); n < 14 {
		t.Fatalf("the help lists %d commands", n)
	}
	for _, fault := range help.Faults(root) {
		t.Error(fault)
	}
}

func TestEachFlagOfARunIsInAGroupOnALineOfItsOwn(t *testing.T) {
	for _, command := range []string{"run", "resume"} {
		cmd, _, err := newRoot(nil).Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		listed := flagGroups.Flags(cmd, help.Width)
		if !strings.HasPrefix(listed, "What:\n") || !strings.Contains(listed, "\n\nWhich fleet:\n") {
			t.Errorf("%s --help has no groups:\n%s", command, listed)
		}
		for _, fault := range flagGroups.Faults(cmd) {
			t.Error(fault)
		}
	}
}

// The man pages are made by tests, so that the programs do not carry what makes them (make manual).
func TestEachCommandHasAManPage(t *testing.T) {
	manual.Manual{Root: newRoot(nil), Grouping: flagGroups,
		Related: []string{"claude-supervise(1)", "claude-supervise-fleet(7)"}}.Check(t, map[string][]string{
		"claude-supervise-fleet.1": {"NAME claude-supervise-fleet - run agents on a fleet of machines SYNOPSIS",
			"claude-supervise-fleet(7)", "\n         claude-supervise fleet dev\n"},
		"claude-supervise-fleet-dev.1":    {"It keeps its state: runs continue when it is started again."},
		"claude-supervise-fleet-run.1":    {"Which fleet:\n", "--repo URL", "{item} in the prompt"},
		"claude-supervise-fleet-worker.1": {"(default: one a CPU)"},
	})
}
