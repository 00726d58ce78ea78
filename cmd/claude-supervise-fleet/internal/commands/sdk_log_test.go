package commands

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// That a workflow cannot be replayed is in the worker's log, once in a while, and what the SDK says of itself is not.
func TestWarningsOfTheSDKAreInTheWorkersLog(t *testing.T) {
	var out bytes.Buffer
	log := sdkLog(slog.New(slog.NewTextHandler(&out, nil)))
	log.Info("Started Worker")
	for range 3 {
		log.Error("Workflow panic", "WorkflowID", "r-aaaaaaaa", "Error", errors.New("nondeterministic workflow"))
	}
	log.Error("Workflow panic", "WorkflowID", "r-bbbbbbbb", "Error", errors.New("nondeterministic workflow"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "r-aaaaaaaa") || !strings.Contains(lines[1], "nondeterministic") {
		t.Errorf("it says %q", lines)
	}
}
