package main

import (
	"strings"
	"testing"

	"claude-supervise/cmd/internal/help"
)

func TestEachFlagOfARunIsInAGroupOnALineOfItsOwn(t *testing.T) {
	for _, command := range []string{"run", "resume", "unpack"} {
		cmd, _, err := newRoot().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		listed := flagGroups.Flags(cmd, help.Width)
		if !strings.HasPrefix(listed, "What:\n") || !strings.Contains(listed, "\n\nPermissions:\n") {
			t.Errorf("%s --help has no groups:\n%s", command, listed)
		}
		for _, fault := range flagGroups.Faults(cmd) {
			t.Error(fault)
		}
	}
}
