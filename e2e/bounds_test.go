package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// A report names files whose look would take hours and gigabytes: patterns with the whole disk below them, and paths
// through the root of every process. One that is made right ends well.
const endlessDeliverables = `
name: endless
about: a report that names patterns over the whole disk, corrected when the agent is told
prompt: |-
  Write the notes.
  Goal: notes.txt.
claude_flags: [--allowedTools, "Bash,Write,Read,Edit"]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "mkdir -p out; echo notes > notes.txt; echo more > out/more.txt", description: write the notes}}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          deliverables:
            - notes.txt
            - out/*.txt
            - /*/*/*/*/*/*/*/*/nope.txt
            - /proc/*/root/*/*/*/*/nope.txt
            - everything/*/*/*/*/*/*/*/nope.txt
          summary: the notes are written
          [/COMPLETION_REPORT]
  - when: "## DELIVERABLES MISSING"
    replies:
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          deliverables:
            - notes.txt
            - out/*.txt
          summary: the notes are written, and named as they are
          [/COMPLETION_REPORT]
expect:
  status: succeeded
  exit_code: 0
  summary: the notes are written, and named as they are
  files: {notes.txt: "notes\n", out/more.txt: "more\n"}
`

func TestAReportThatNamesTheWholeDiskIsLookedAtInTheFolderOnly(t *testing.T) {
	t.Parallel()
	agentsOn(t, endlessDeliverables, func(t *testing.T, w *world, s examples.Scenario) {
		noError(t, os.Symlink("/", filepath.Join(w.Cwd, "everything")))
		run := w.start(w.runArgs(s)...)
		finishes(t, w, s, run)
		told := w.deliveredWith("## DELIVERABLES MISSING")
		for _, named := range []string{"/*/*/*/*/*/*/*/*/nope.txt", "/proc/*/root/*/*/*/*/nope.txt",
			"everything/*/*/*/*/*/*/*/nope.txt"} {
			if !strings.Contains(told, "- "+named) {
				t.Errorf("the agent is not told that %s is missing:\n%s", named, told)
			}
		}
		if strings.Contains(told, "- out/*.txt") || strings.Contains(told, "- notes.txt") {
			t.Errorf("what is there is called missing:\n%s", told)
		}
	})
}

// deliveredWith returns what the agent was told that has this in it, as its conversation keeps it.
func (w *world) deliveredWith(text string) string {
	w.t.Helper()
	for _, line := range w.conversation() {
		if strings.Contains(line, `"type":"user"`) && strings.Contains(line, text) {
			return strings.ReplaceAll(line, `\n`, "\n")
		}
	}
	w.t.Fatalf("the agent was never told %q", text)
	return ""
}
