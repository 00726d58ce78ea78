package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// mostMadeAtStart is how many things our packages may allocate before main, in all: they made 500 when this was written,
// and 3600 before expressions and templates were made when they are first used.
const mostMadeAtStart = 800

// Every command pays for what the program makes before it begins. The runtime counts it, so no clock is asked.
func TestACommandWaitsForNothingThatAnotherNeeds(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, plainProgram)
	cmd := exec.CommandContext(t.Context(), plainProgram, "version")
	cmd.Env = append(w.Env, "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	total, most := 0, ""
	for line := range strings.Lines(string(said)) {
		var name string
		var at, took float64
		var bytes, allocations int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &bytes,
			&allocations); err != nil || !strings.HasPrefix(name, "claude-supervise/") && name != "main" {
			continue
		}
		if total += allocations; allocations > 100 {
			most += line
		}
	}
	if total == 0 || total > mostMadeAtStart {
		t.Errorf("%d allocations, of at most %d, above all by\n%s", total, mostMadeAtStart, most)
	}
}
