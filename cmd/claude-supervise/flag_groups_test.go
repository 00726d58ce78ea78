package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestEachFlagOfARunIsInAGroupOnALineOfItsOwn(t *testing.T) {
	for _, command := range []string{"run", "resume", "unpack"} {
		cmd, _, err := newRoot().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		listed := flagGroups.Flags(cmd, 80)
		if !strings.HasPrefix(listed, "What:\n") || !strings.Contains(listed, "\n\nPermissions:\n") {
			t.Errorf("%s --help has no groups:\n%s", command, listed)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Count(listed, "--"+f.Name+" ") != 1 && !f.Hidden {
				t.Errorf("%s --help does not list --%s once", command, f.Name)
			}
		})
		for line := range strings.Lines(listed) {
			if strings.HasPrefix(line, "  ") && !strings.Contains(line, "--") || len(line) > 81 {
				t.Errorf("%s --help: not one line: %q", command, line)
			}
		}
	}
}
