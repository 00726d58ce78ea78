package e2e

import (
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
)

// refusing is a scenario whose agent makes a call that claude refuses by itself, and reports.
const refusing = `name: refusing
about: makes a call that is refused
prompt: Touch it.
claude_flags: [--disallowedTools, "Bash(touch refused)"]
expect: {status: succeeded}
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "touch refused", description: touch it}}]
      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: tried}}]
      - text: done
`

// What claude refuses without a question is shown when it happens, and in the log: nobody else would say it.
func TestACallThatClaudeRefusesByItselfIsShown(t *testing.T) {
	t.Parallel()
	for _, real := range []bool{false, true} {
		t.Run(map[bool]string{false: "stand-in", true: "real CLI"}[real], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.scenario(refusing)
			s := load(t, path)
			if real {
				w.real(s, func(messagesapi.Request) {})
			} else {
				w.agent = []string{"--demo", path, "--cwd", "."}
			}
			run := w.start(w.runArgs(s)...)
			var told []string
			for e := range run.events {
				if strings.HasPrefix(e.Text, "claude has refused") {
					told = append(told, e.Text)
				}
			}
			run.wait()
			want := "claude has refused a call of Bash and asked nobody: a rule denies it"
			if len(told) != 1 || !strings.HasPrefix(told[0], want) {
				t.Errorf("the run says %q", told)
			}
			if logs := w.must("logs", w.ps().ID); strings.Count(logs, want) != 1 {
				t.Errorf("its log says\n%s", logs)
			}
		})
	}
}
