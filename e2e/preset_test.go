package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// hidesMore is an agent whose command begins like a harmless one.
const hidesMore = `
name: hides-more
about: a command whose first line was thought of in advance
prompt: Run the tests.
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "COMMAND", description: DESCRIPTION}}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: it ran
          [/COMPLETION_REPORT]
expect: {status: parked, exit_code: 75}
`

// A run that parks on a permission says what would have let it through, as it is typed, and it does: in the same words,
// and for these only.
func TestAParkedPermissionNamesTheRuleThatLetsItThrough(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"a command":     `{name: Bash, input: {command: "touch PWN", description: make it}}`,
		"a redirection": `{name: Bash, input: {command: "echo \"it's $HOME, or 1*\" > PWN", description: make it}}`,
		"a file":        `{name: Write, input: {file_path: "{{cwd}}/PWN", content: "x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			scenario := strings.Replace(hidesMore, `{name: Bash, input: {command: "COMMAND", description: DESCRIPTION}}`,
				call, 1)
			agentsOn(t, scenario, func(t *testing.T, w *world, s examples.Scenario) {
				code, _, stderr := w.run(w.runArgs(s, "--check", "off", "--hold", "0")...)
				line := regexp.MustCompile(`(?m)^  (--allow .*)$`).FindStringSubmatch(stderr)
				if code != 75 || line == nil {
					t.Fatalf("exit %d\n%s", code, stderr)
				}
				for _, shown := range []string{w.must("questions"), w.must("show", w.questions()[0].ID)} {
					lacksNone(t, "what is shown", shown, "In advance: "+line[1]+"\n")
				}
				lacksNone(t, "the JSON", w.must("questions", "--json"), `"allow_rule":"`)
				typed, err := exec.Command("sh", "-c", "printf '%s\\n' "+line[1]).Output()
				noError(t, err)
				flags := strings.SplitN(strings.TrimSuffix(string(typed), "\n"), "\n", 2)
				code, _, stderr = w.run(w.runArgs(s, append([]string{"--check", "off", "--hold", "0"}, flags...)...)...)
				if _, err := os.Stat(filepath.Join(w.Cwd, "PWN")); code != 0 || err != nil {
					t.Fatalf("with %q: exit %d, %v\n%s", flags, code, err, stderr)
				}
			})
		})
	}
}

// Where no rule can stand for a call that is said, too.
func TestAParkedPermissionThatNoRuleFitsSaysSo(t *testing.T) {
	t.Parallel()
	scenario := strings.NewReplacer("COMMAND", `echo a\ntouch PWN`, "DESCRIPTION", "run the tests").Replace(hidesMore)
	agentsOn(t, scenario, func(t *testing.T, w *world, s examples.Scenario) {
		code, _, stderr := w.run(w.runArgs(s, "--check", "off", "--hold", "0", "--answer", "Bash=allow")...)
		if code != 75 {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		lacksNone(t, "stderr", stderr, "no rule can", "--answer Bash does not answer it: it would permit a call")
	})
}

// A preset can refuse.
func TestAPresetRefuses(t *testing.T) {
	t.Parallel()
	scenario := strings.NewReplacer("COMMAND", "touch PWN", "DESCRIPTION", "run the tests", "parked",
		"succeeded", "75", "0").Replace(hidesMore)
	agentsOn(t, scenario, func(t *testing.T, w *world, s examples.Scenario) {
		code, _, stderr := w.run(w.runArgs(s, "--check", "off", "--hold", "0", "--answer", "Bash=deny: not here")...)
		if _, err := os.Stat(filepath.Join(w.Cwd, "PWN")); code != 0 || err == nil {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		lacksNone(t, "stderr", stderr, "answered by --answer Bash: deny")
	})
}
