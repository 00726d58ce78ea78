package e2e

import (
	"encoding/json"
	"html"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"claude-supervise/e2e/claude"
	"claude-supervise/examples"
	cli "claude-supervise/procs/claude"
	"claude-supervise/supervisor/text/texttest"
)

// What a call hides from a terminal is seen wherever its question is shown, and what is allowed is what was shown: byte
// for byte.
func TestWhatACallHidesIsShownAndRunsAsShown(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "permission", "hidden.yaml"))
	noError(t, err)
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
		gist, _, _ := strings.Cut(seen, " (+")
		lacksNone(t, "logs", w.must("logs", bash.Run), "[Bash] command: "+gist)
		shown := w.must("show", bash.ID)
		fitForATerminal(t, "show", shown)
		_, rest, _ := strings.Cut(shown, "  command: ")
		rows, _, _ := strings.Cut(rest, "\n  it says: ")
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
		if _, err := os.Stat(filepath.Join(w.Cwd, "PWN")); err == nil {
			t.Error("it has run before it was allowed")
		}
		said := w.must("answer", bash.ID, "allow")
		fitForATerminal(t, "answer", said)
		lacksNone(t, "answer", said, "(+1 line, 19 bytes)")
		w.ends(run, 6)
		if got := w.got("bytes"); got != bytes {
			t.Errorf("what was allowed has printed %q", got)
		}
		if _, err := os.Stat(filepath.Join(w.Cwd, "PWN")); err != nil {
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

// notifies are the flags by which a run keeps its notices in the home.
func (w *world) notifies() []string {
	w.t.Helper()
	w.put("notice", "#!/bin/sh\n{ printf '%s\\n' \"$@\"; cat; } >> '"+filepath.Join(w.Home, "notices")+"'\n")
	noError(w.t, os.Chmod(filepath.Join(w.Cwd, "notice"), 0o700))
	return []string{"--notify", filepath.Join(w.Cwd, "notice")}
}

// lists is where an open question is listed; keeps is where the questions of the only run have been told or are kept.
func (w *world) lists(q *questionView) map[string]string {
	w.t.Helper()
	return map[string]string{"the question": q.Question, "ps": w.must("ps", "--tree"), "questions": w.must("questions"),
		"show": w.must("show", q.ID)}
}

func (w *world) keeps() map[string]string {
	w.t.Helper()
	return map[string]string{"the notices": w.got(filepath.Join(w.Home, "notices")),
		"the audit log": w.got(filepath.Join(w.Home, ".claude", "audit", "questions.log")),
		"the report":    html.UnescapeString(w.must("report", w.ps().ID))}
}

// What a person permits is named by what it does wherever that is listed, told or kept, and not as the model describes
// it, which is how claude itself names it (e2e/claude TestACallIsAskedAboutByWhatItDoes).
func TestACallIsAskedAboutByWhatItDoesInAllPlaces(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "permission", "named.yaml"))
	noError(t, err)
	if !cli.ReleaseOf(cli.InstalledRelease(claude.Program(t))).Receipts {
		t.Skip("this release has no Monitor and no Workflow, which came with 2.1.329") // in CI, too: e2e/claude plays all it has
	}
	w := newWorld(t).real(load(t, path), nil)
	run := w.starts(w.notifies()...)
	named := []string{"Allow Monitor: touch PWN?", "Allow Workflow: export const meta"}
	places := map[string]string{}
	for _, named := range named {
		q := run.until("question").Question
		listed := w.lists(q)
		listed["answer"] = w.must("answer", q.ID, "deny")
		for place, text := range listed {
			places[place] += text
			lacksNone(t, place, text, named)
		}
	}
	w.ends(run, 6)
	maps.Copy(places, w.keeps())
	for place, text := range places {
		lacksNone(t, place, text, named...)
		for _, said := range []string{"Monitor: watch the build", "Workflow: tidies up", "Workflow: Tidy"} {
			if strings.Contains(text, said) {
				t.Errorf("%s has %q for a heading:\n%s", place, said, text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(w.Cwd, "PWN")); err == nil {
		t.Error("what was refused has run")
	}
}

// What was allowed is what was shown: a file that has come or changed since is left as it is, and the person is asked
// again. claude itself writes over it (e2e/claude TestClaudeWritesOverWhatHasChangedSince).
func TestNoChangeIsMadeOfAnotherFileThanWasShown(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "permission", "meanwhile.yaml"))
	noError(t, err)
	w := newWorld(t).real(load(t, path), nil)
	w.put("list", "one\n")
	run := w.starts()
	for _, meanwhile := range [][2]string{{"notes", "of the person\n"}, {"list", "one\nnone\n"}} {
		q := run.until("question").Question
		w.put(meanwhile[0], meanwhile[1])
		w.must("answer", q.ID, "allow")
		run.waitsFor("the file has changed since the call was shown")
	}
	again := run.until("question").Question
	lacksNone(t, "the second question", w.must("show", again.ID), "-none", "+n1")
	w.must("answer", again.ID, "allow")
	w.ends(run, 6)
	for file, want := range map[string]string{"notes": "of the person\n", "list": "1\nn1\n"} {
		if got := w.got(file); got != want {
			t.Errorf("%s has become %q, want %q", file, got, want)
		}
	}
}
