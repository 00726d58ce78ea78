package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
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
			run := w.start(w.runArgs(s, "--permissions", "ask-refused")...)
			var told []string
			for e := range run.events {
				if strings.HasPrefix(e.Text, "claude has refused") {
					told = append(told, e.Text)
				}
			}
			run.wait()
			want := "claude has refused a call of Bash and asked nobody: a rule denies it"
			if len(told) != 1 || !strings.HasPrefix(told[0], want) ||
				!strings.HasSuffix(told[0], "; no answer can lift that, so you are not asked") {
				t.Errorf("the run says %q", told)
			}
			if logs := w.must("logs", w.ps().ID); strings.Count(logs, want) != 1 {
				t.Errorf("its log says\n%s", logs)
			}
		})
	}
}

// Bare claude refuses the call, and so does claude in a run, until the person's own config has them asked about it.
func TestARefusedCallIsAskedAboutByThePersonsConfigAlone(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	s := load(t, "refused")
	s.Flags = nil
	published := func(w *world) bool {
		_, err := os.Stat(filepath.Join(w.Cwd, "published.txt"))
		return err == nil
	}
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t).release(program, s, nil)
		cmd := exec.Command(program, append([]string{"-p", "## YOUR TASK\n" + s.Prompt}, s.ClaudeFlags...)...)
		cmd.Dir, cmd.Env = w.Cwd, claude.Environment(w.Home, w.API.URL)
		if out, err := cmd.CombinedOutput(); published(w) || !strings.Contains(string(out), "nothing is published") {
			t.Errorf("bare claude (%v) has published: %v\n%s", err, published(w), out) // it may exit with 1, for a lack of checks
		}
	})
	t.Run("without it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t).release(program, s, nil)
		run := w.start(w.runArgs(s, "--on-question", "ask")...)
		run.exits(0)
		if types := run.types(); strings.Contains(types, "question") || published(w) {
			t.Errorf("published: %v, events %s", published(w), types)
		}
	})
	t.Run("with it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t).release(program, s, nil)
		w.configure("permissions: ask-refused\n")
		run := w.start(w.runArgs(s, "--on-question", "ask")...)
		q := run.until("question").Question
		if q.Kind != "refusal" || !strings.Contains(q.Context, "Asked because: claude has refused it: the check of the mode auto") {
			t.Errorf("asked is %+v", q)
		}
		w.must("answer", q.ID, "allow")
		finishes(t, w, s, run)
	})
}
