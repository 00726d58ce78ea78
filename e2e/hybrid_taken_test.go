package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"claude-supervise/examples"
)

// takenScenario runs a script that takes its answer by file and works on without a word of it.
const takenScenario = `
name: taken
about: a script takes its answer, and dies with its agent
prompt: Set up the login.
claude_flags: [--allowedTools, "Bash"]
answers: [{question: Which auth method, answer: oauth}]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: bash ask.sh, description: ask}}]
      - &report
        text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: the login is set up
          [/COMPLETION_REPORT]
  - when: "User selected: oauth."
    replies: [*report]
expect: {status: succeeded, exit_code: 0, summary: the login is set up}
`

// An answer that a script has taken is in no conversation until the call that runs the script has ended. It is told to
// the agent whose process died before.
func TestAnAnswerThatAScriptTookOutlivesItsAgent(t *testing.T) {
	t.Parallel()
	agentsOn(t, takenScenario, func(t *testing.T, w *world, s examples.Scenario) {
		if err := errors.Join(syscall.Mkfifo(filepath.Join(w.Cwd, "taken"), 0o600),
			os.WriteFile(filepath.Join(w.Cwd, "ask.sh"), []byte(`
question=~/.claude/questions/pending/w_q1.json answer=~/.claude/answers/w_q1.txt
echo '{"question": "Which auth method?", "options": ["oauth", "jwt"]}' > $question
until [ -e $answer ]; do sleep 0.05; done
rm $answer $question
echo > taken
sleep 600
`), 0o600)); err != nil {
			t.Fatal(err)
		}
		run := w.start(w.runArgs(s, "--on-question", "ask")...)
		w.must("answer", run.until("question").Question.ID, "oauth")
		if _, err := os.ReadFile(filepath.Join(w.Cwd, "taken")); err != nil {
			t.Fatal(err)
		}
		w.killsAgent()
		finishes(t, w, s, run)
		w.deliveredOnce("User selected: oauth.")
	})
}
