package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"claude-supervise/examples"
	"claude-supervise/supervisor/text/texttest"
)

// What a call hides from a terminal is seen wherever its question is shown, and what is allowed is what was shown: byte
// for byte.
func TestWhatACallHidesIsShownAndRunsAsShown(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "permission", "hidden.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const content = "echo done \"\x1b]0;\"; touch PWN; : \"\a\"\n"
	// 2.1.329 itself refuses a command with control characters; those that it takes hide as well.
	const bytes = "a\u200bb\u202ec\\x1b\u00a0\td\U000e0061"
	const command = "printf %s '" + bytes + "' > bytes\ntouch PWN; : '\u2066'"
	const seen = `printf %s 'a\u200bb\u202ec\\x1b\u00a0⇥   d\U000e0061' > bytes… (+1 line, `
	agents(t, path, func(t *testing.T, w *world, _ examples.Scenario) {
		run := w.starts()

		write := run.until("question").Question
		const line = `+echo done "\x1b]0;"; touch PWN; : "\x07"`
		for _, args := range [][]string{{"questions"}, {"show", write.ID}} {
			shown := w.must(args...)
			fitForATerminal(t, args[0], shown)
			lacksNone(t, args[0], shown, line, "2 characters cannot be seen")
		}
		w.must("answer", write.ID, "allow")

		bash := run.until("question").Question
		if want := "Allow Bash: " + seen + "19 bytes)?"; bash.Question != want {
			t.Errorf("asked is %q, want %q", bash.Question, want)
		}
		if got := w.got("build.sh"); got != content {
			t.Errorf("what was allowed has written %q", got)
		}
		lacksNone(t, "ps", w.must("ps", "--tree"), "bytes)")
		lacksNone(t, "logs", w.must("logs", bash.Run), "[Bash] command: "+seen[:len(seen)-len("1 line, ")])
		shown := w.must("show", bash.ID)
		fitForATerminal(t, "show", shown)
		_, rest, _ := strings.Cut(shown, "  command: ")
		rows, _, _ := strings.Cut(rest, "\n  description: ")
		read, err := texttest.Original(strings.ReplaceAll(texttest.Unwrapped(rows, "  ", "↳ "), "\n    ", "\n"))
		if err != nil || read != command {
			t.Errorf("the command is shown as\n%s\nwhich is %q (%v)", rows, read, err)
		}
		var asked []struct {
			Tool  string
			Input struct{ Command string }
		}
		if err := json.Unmarshal([]byte(w.must("questions", "--json")), &asked); err != nil || len(asked) != 1 ||
			asked[0].Input.Command != command || asked[0].Tool != "Bash" {
			t.Errorf("questions --json gives %+v (%v)", asked, err)
		}
		if _, err := os.Stat(filepath.Join(w.cwd, "PWN")); err == nil {
			t.Error("it has run before it was allowed")
		}
		said := w.must("answer", bash.ID, "allow")
		fitForATerminal(t, "answer", said)
		lacksNone(t, "answer", said, "(+1 line, 19 bytes)")
		w.ends(run, 6)
		if got := w.got("bytes"); got != bytes {
			t.Errorf("what was allowed has printed %q", got)
		}
		if _, err := os.Stat(filepath.Join(w.cwd, "PWN")); err != nil {
			t.Error("what was shown and allowed has not run whole")
		}
	})
}

// fitForATerminal fails if a terminal would obey or hide something in a text.
func fitForATerminal(t *testing.T, what, shown string) {
	t.Helper()
	for _, r := range shown {
		if r != '\n' && unicode.In(r, unicode.C, unicode.Bidi_Control) {
			t.Errorf("%s shows %U:\n%q", what, r, shown)
		}
	}
}
