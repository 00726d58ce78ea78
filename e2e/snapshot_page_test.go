package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// The commands of the page that move a run by its snapshots.
const (
	runsWithSnapshots = "claude-supervise run --snapshots /mnt/snapshots -f task.yaml"
	unpacksASnapshot  = "claude-supervise unpack /mnt/snapshots/r-6mmto5w0"
	resumesASnapshot  = "claude-supervise resume r-6mmto5w0"
)

// goesOnFromASnapshot runs them, one after the other: a run that asks is parked, taken over elsewhere, and done there.
func goesOnFromASnapshot(t *testing.T) {
	s := isDoneAtOnce("all is well")
	s.Turns[0].When = "## CLARIFICATION RESPONSE"
	s.Turns = append(s.Turns, examples.Turn{When: "## YOUR TASK", Replies: []examples.Reply{{Text: `[CLARIFICATION_NEEDED]
agent_id: {{agent}}
timestamp: 2026-01-11T12:00:00Z
questions:
  - question_id: which
    text: Which one?
[/CLARIFICATION_NEEDED]`}}})
	here := newWorld(t).real(s, nil)
	here.put("task.yaml", "prompt: Do it.\n")
	dir := t.TempDir()
	seen := here.session(strings.Replace(runsWithSnapshots, "/mnt/snapshots", dir, 1)+" --hold 0", false, nil)
	lacksNone(t, "the run", seen, " is parked: asks: Which one?")

	id := here.ps().ID
	there := here.elsewhere()
	there.Cwd = filepath.Join(t.TempDir(), "there")
	noError(t, os.Mkdir(there.Cwd, 0o700))
	typed := strings.NewReplacer("/mnt/snapshots", dir, "r-6mmto5w0", id)
	lacksNone(t, "unpack", there.session(typed.Replace(unpacksASnapshot), false, nil), "It is taken over (epoch 2)")
	there.must("answer", there.questions()[0].ID, "this one")
	lacksNone(t, "resume", there.session(typed.Replace(resumesASnapshot), false, nil), "all is well", " succeeded ")
}
