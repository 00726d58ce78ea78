package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWorkerRefusesAClaudeSuperviseThatCannotContinueItsRuns(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"of this release":  {script: `[ "$*" = "unpack --vouched --help" ]`},
		"of an older one":  {script: `echo "claude-supervise: unknown flag: --vouched" >&2; exit 2`, says: "unknown flag: --vouched"},
		"that is not ours": {script: `exit 1`, says: "Install both of one release; nothing was started"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "claude-supervise")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Dir(path))
			found, err := mainProgram(t.Context())
			if c.says == "" && (err != nil || found != path) ||
				c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("it finds %q, %v", found, err)
			}
		})
	}
}
