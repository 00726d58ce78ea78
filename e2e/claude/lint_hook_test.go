package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/machine"
)

// The Stop hook, as the help of `claude-supervise lint` says to set it up, sends the model on when a signal has a
// fault, and once only.
func TestLintAsAStopHook(t *testing.T) {
	t.Parallel()
	Program(t)
	dir := t.TempDir()
	if err := machine.Build(dir, nil, "cmd/claude-supervise"); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(dir, "claude-supervise")
	const (
		faulty = `"[STOP_WORK]\nagent_id: bg-task-1\nstop_reason: stuck\nblocker_type: error\ndetails: no key\n[/STOP_WORK]"`
		mended = `"[STOP_WORK]\nagent_id: bg-task-1\nstop_reason: blocker\nblocker_type: error\ndetails: no ` +
			`key\n[/STOP_WORK]"`
		fault = `- line 3: bad_value: stop_reason is "stuck", not one of blocker, error, completion`
	)
	for _, c := range []struct {
		name, first, then string
		reportRequested   int
		last              string
	}{
		{"a faulty signal is mended", faulty, mended, 1, "stop_reason: blocker"},
		{"a fault that stays holds nobody", faulty, faulty, 1, "stop_reason: stuck"},
		{"a good signal passes", mended, `"sent on"`, 0, "stop_reason: blocker"},
		{"talk passes", `"I would print [STOP_WORK]."`, `"sent on"`, 0, "I would print"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, realCLI, `
  - when: "## YOUR TASK"
    replies: [{text: `+c.first+`}]
  - when: "Stop hook feedback:"
    replies: [{text: `+c.then+`}]
`)
			s.install(hook + " lint --hook")
			p := s.start("--session-id", s.id)
			p.say("task", s.task())
			var feedback []string
			for {
				l := p.until("user", "result")
				if l.kind() == "result" {
					if got := l.text("result"); !strings.Contains(got, c.last) {
						t.Errorf("the turn ended with %q, without %q", got, c.last)
					}
					break
				}
				for _, b := range l.list("message", "content") {
					if text := b.text("text"); strings.HasPrefix(text, "Stop hook feedback:") {
						feedback = append(feedback, text)
					}
				}
			}
			p.leave()
			if len(feedback) != c.reportRequested {
				t.Fatalf("the hook sent the model on %d times, not %d: %q", len(feedback), c.reportRequested, feedback)
			}
			if c.reportRequested > 0 && !strings.Contains(feedback[0], fault) {
				t.Errorf("the model was not told of the fault: %q", feedback[0])
			}
		})
	}
}

// install makes a command the Stop hook of the session's project.
func (s *session) install(command string) {
	s.t.Helper()
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	type matcher struct {
		Hooks []hook `json:"hooks"`
	}
	settings, err := json.Marshal(map[string]any{
		"hooks": map[string][]matcher{"Stop": {{Hooks: []hook{{Type: "command", Command: command}}}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.cwd, ".claude"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.cwd, ".claude", "settings.json"), settings, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
