package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// readsScenario has an agent read of its own run by our program, and then do more by the same words.
const readsScenario = `
name: reads
about: an agent reads of its own run
prompt: |-
  Tell which runs there are.
  Done when: you have told.
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "PROGRAM ps -q", description: list}}
      - tools:
          - {name: Bash, input: {command: "PROGRAM logs {{agent}}", description: read}}
      - tools:
          - {name: Bash, input: {command: "PROGRAM show {{agent}}", description: read more}}
          - {name: Bash, input: {command: "PROGRAM wait --timeout 0 {{agent}}", description: wait}}
      - tools:
          - {name: Bash, input: {command: "PROGRAM ps -q > listed", description: list into a file}}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: one
          [/COMPLETION_REPORT]
expect:
  status: succeeded
  exit_code: 0
  summary: one
`

func TestAnAgentReadsOfItsOwnRunUnaskedAndOfNoOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reads.yaml")
	noError(t, os.WriteFile(path, []byte(strings.ReplaceAll(readsScenario, "PROGRAM", program)), 0o600))
	agents(t, path, func(t *testing.T, w *world, _ examples.Scenario) {
		elsewhere := t.TempDir()
		if err := os.WriteFile(filepath.Join(elsewhere, "go"), nil, 0o600); err != nil { // what its work waits for
			t.Fatal(err)
		}
		other := w.must("run", "--demo", "work", "--cwd", elsewhere, "--json")
		run := w.starts()
		asked := run.until("question").Question
		if want := "Allow Bash: " + program + " ps -q > listed?"; asked.Question != want {
			t.Fatalf("first it asks %q", asked.Question)
		}
		read := w.must("logs", asked.Run, "--raw")
		if !strings.Contains(read, asked.Run) {
			t.Errorf("the agent has not read of its run:\n%s", read)
		}
		if id := runID(other); strings.Contains(read, id) {
			t.Errorf("the agent has read of the run %s", id)
		}
		w.must("answer", asked.ID, "deny")
		for range run.events { // to the end
		}
		if code := run.wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if _, err := os.Stat(filepath.Join(w.Cwd, "listed")); err == nil {
			t.Error("it has written what nobody allowed")
		}
	})
}

// runID returns the id of a run from the first line of what it tells as JSON.
func runID(told string) string {
	_, id, _ := strings.Cut(told, `"run":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}
