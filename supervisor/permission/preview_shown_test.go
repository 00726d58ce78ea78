package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/text/texttest"
	"claude-supervise/supervisor/view"
)

// This file holds what a person permits against what is run: what is shown of a call, read back, is the call.

// hiding is what could be hidden in a call.
var hiding = []string{
	"echo done \"\x1b]0;\"; touch PWN; : \"\a\"", "rm -rf x\recho safe", "a\u202eb", "pass\u200bword",
	"x\U000e0061\U000e0062", "a\u2028b",
	"a\ufe0fb", "c\u00a0d", "\u3164", `printf '\x1b'`, "\\\x1b", "\tx", "⇥", "a\x85b\x9b", "one\n\n\ntwo\n",
	"ls\ndescription: harmless",
	"\nrun's folder: /safe", "a\r\nb\r\n", "\x00", "\x7f",
}

// shownMembers reads back what is shown of a tool's input: each member's text by its name.
func shownMembers(t *testing.T, preview string) map[string]string {
	t.Helper()
	found := map[string]string{}
	name := ""
	for line := range strings.SplitSeq(preview, "\n") {
		if more, is := strings.CutPrefix(line, valueIndent); is {
			found[name] += "\n" + more
			continue
		}
		var value string
		name, value, _ = strings.Cut(line, ": ")
		if _, twice := found[name]; !twice {
			found[name] = value
		}
	}
	for name, value := range found {
		text, err := texttest.Original(value)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found[name] = text
	}
	return found
}

// askedOf returns the question of a call, and the rule that it offers.
func askedOf(m procs.Ask, cwd string) (signals.Question, string) {
	return ask.Permission(m, LookAt(m.Name, m.Input, site(cwd)))
}

func TestWhatIsShownOfACommandIsWhatRuns(t *testing.T) {
	for _, command := range hiding {
		l := LookAt("Bash", raw(map[string]any{"command": command, "description": "d"}), site("/work"))
		if got := shownMembers(t, l.Preview)["command"]; got != runs(command) {
			t.Errorf("%q is shown as %q, which is\n%q", command, l.Preview, got)
		}
		mustBeSeen(t, l.Preview)
	}
}

// runs is what a text is once it has been through JSON, as all of a call has been.
func runs(s string) string {
	var text string
	_ = json.Unmarshal(raw(s), &text) // what was just written can be read
	return text
}

// mustBeSeen holds that a text has nothing in it that a terminal obeys or hides.
func mustBeSeen(t *testing.T, shown string) {
	t.Helper()
	for _, r := range shown {
		if r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			t.Errorf("%U is left in %q", r, shown)
		}
	}
}

// The call of the issue: a script whose second command was not to be seen.
func TestTheHiddenCommandOfANewScriptIsSeen(t *testing.T) {
	content := "#!/bin/sh\necho done \"\x1b]0;\"; touch PWN; : \"\a\"\n"
	q, _ := askedOf(procs.Ask{Name: "Write", Input: raw(map[string]any{"file_path": "build.sh", "content": content})},
		t.TempDir())
	if want := `+echo done "\x1b]0;"; touch PWN; : "\x07"`; !strings.Contains(q.Context, want) {
		t.Errorf("it is not shown as %s:\n%s", want, q.Context)
	}
	if !strings.Contains(q.Context, "\n2 characters cannot be seen") {
		t.Errorf("it is not said how much cannot be seen:\n%s", q.Context)
	}
}

// A path, a name of a member or of a tool, the folder and what the CLI says of the call make no line of their own.
func TestNoNameInACallPassesForALineOfOurs(t *testing.T) {
	const evil = "x\nrun's folder: /safe\x1b[2J"
	for tool, input := range map[string]map[string]any{
		"Write": {"file_path": evil, "content": "y"}, "Read": {"file_path": "/etc/" + evil},
		"Bash":                       {"command": "ls", evil: "y"},
		"mcp__" + evil + "__" + evil: {"a": 1}, "NotebookEdit": {"notebook_path": evil, "new_source": evil},
		"WebFetch": {"url": "http://" + evil},
		evil:       {"a": evil},
	} {
		m := procs.Ask{Name: tool, Input: raw(input), Reason: evil, Description: evil}
		m.From.ID = evil
		q, _ := askedOf(m, "/work"+evil)
		mustBeSeen(t, q.Text+q.Context+q.Header)
		if strings.Contains(q.Text+q.Header, "\n") {
			t.Errorf("the question has several lines: %q", q.Text)
		}
		for line := range strings.SplitSeq(q.Context, "\n") {
			if strings.HasPrefix(line, "run's folder: /safe") {
				t.Errorf("%s makes a line of ours:\n%s", tool, q.Context)
			}
		}
	}
}

func TestTheQuestionSaysHowMuchOfTheCallItLeavesOut(t *testing.T) {
	for command, want := range map[string]string{
		"npm test":                        "Allow Bash: npm test?",
		"npm test\ntouch PWN":             "Allow Bash: npm test… (+1 line, 10 bytes)?",
		strings.Repeat("x", 200):          "Allow Bash: " + strings.Repeat("x", text.MaxNamed) + "… (+40 bytes)?",
		"# safe\u2028\u202e\ntouch PWN\n": `Allow Bash: # safe\u2028\u202e… (+1 line, 10 bytes)?`,
	} {
		if q, _ := askedOf(procs.Ask{Name: "Bash", Input: raw(map[string]any{"command": command})}, "/work"); q.Text != want {
			t.Errorf("asked is %q, want %q", q.Text, want)
		}
	}
	if got, want := listen.Doing(procs.ToolUse{Name: "Bash",
		Input: raw(map[string]any{"command": "npm test\ntouch PWN"})}),
		"Bash: npm test… (+1 line, 10 bytes)"; got != want {
		t.Errorf("at work is %q, want %q", got, want)
	}
	if got, want := view.CallInWords("Bash", raw(map[string]any{"command": "npm test\ntouch PWN"})),
		"[Bash] command: npm test… (+1 line, 10 bytes)"; got != want {
		t.Errorf("the log says %q, want %q", got, want)
	}
}

// What is not shown cannot be allowed, in no words; it can be refused.
func TestACallThatCannotBeShownWholeCanOnlyBeRefused(t *testing.T) {
	for name, input := range map[string]map[string]any{
		"long":   {"command": "true" + strings.Repeat("\n: x", text.MaxPreview/4) + "\ntouch PWN"},
		"hidden": {"command": strings.Repeat("\x1b", text.MaxPreview/3)},
		"members": {"a": strings.Repeat("x", text.MaxPreview/2), "b": strings.Repeat("x", text.MaxPreview/2),
			"command": "touch PWN"},
	} {
		asked, rule := askedOf(procs.Ask{Name: "Bash", Input: raw(input)}, "/work")
		q := ask.Question(questions.AskPermission, asked)
		q.Rule = rule
		if len(q.Options) != 2 || !strings.Contains(q.Context, "It can only be refused") || q.Truncated != "" {
			t.Errorf("%s: it offers %v: %s", name, q.Options, q.Context[len(q.Context)-200:])
		}
		for answer, taken := range map[string]bool{supervisor.Allow: false, supervisor.AllowRun: false,
			supervisor.AllowRun + " Bash": false, supervisor.Deny: true, supervisor.Deny + " no": true,
			supervisor.DenyStop: true} {
			if err := questions.Check(q, answer, "/work"); (err == nil) != taken {
				t.Errorf("%s: %q is taken: %v", name, answer, err)
			}
		}
	}
	whole := strings.Repeat("echo one\n", 3000) + "touch PWN" // more than the 16 KiB of older releases
	asked, _ := askedOf(procs.Ask{Name: "Bash", Input: raw(map[string]any{"command": whole})}, "/work")
	q := ask.Question(questions.AskPermission, asked)
	if got := shownMembers(t, q.Context)["command"]; got != whole ||
		questions.Check(q, supervisor.Allow, "/work") != nil {
		t.Errorf("of a command of %d bytes %d are shown", len(whole), len(got))
	}
	if v := view.View(q); v.Context != q.Context {
		t.Error("a reader gets less than was asked")
	}
}

// What an older release has saved may hide something; a reader sees it all the same, and what is exact beside it.
func TestAPermissionOfAnOlderReleaseHidesNothing(t *testing.T) {
	q := &supervisor.Question{Kind: questions.AskPermission,
		Wording: checkpoints.Wording{Text: "Allow Bash: a\x1bb?", Context: "command: a\x1bb"},
		Origin: checkpoints.Origin{Tool: &checkpoints.ToolCall{Name: "Bash",
			Input: raw(map[string]any{"command": "a\x1bb"})}}}
	v := view.View(q)
	if v.Question != `Allow Bash: a\x1bb?` || v.Context != `command: a\x1bb` || v.Tool != "Bash" ||
		string(v.Input) != string(q.Tool.Input) {
		t.Errorf("it is shown as %+v", v)
	}
}

// What is shown of a change, read back and played through, makes of the file what the call makes of it.
func checkChange(t *testing.T, before, after string) {
	t.Helper()
	before, after = runs(before), runs(after)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	was := ""
	if before != "" {
		was = before
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := LookAt("Write", raw(map[string]any{"file_path": path, "content": after}), site(dir))
	if l.More > 0 {
		return
	}
	mustBeSeen(t, l.Preview)
	switch got, shown, err := texttest.Changed(was, l.Preview); {
	case err != nil:
		t.Error(err)
	case shown && got != after:
		t.Errorf("from %q to %q is shown as\n%s\nwhich makes %q", before, after, l.Preview, got)
	case !shown && before != after && after != "" && !strings.Contains(l.Preview, "cannot be shown"):
		t.Errorf("no change from %q to %q is shown:\n%s", before, after, l.Preview)
	}
}

func TestWhatIsShownOfAChangeIsWhatIsWritten(t *testing.T) {
	for _, text := range hiding {
		checkChange(t, "", text)
		checkChange(t, "one\ntwo\n", "one\n"+text+"\ntwo\n")
		checkChange(t, "one\n"+text+"\nthree", "one\nthree")
	}
}

func FuzzWhatIsShownIsWhatRuns(f *testing.F) {
	for _, seed := range hiding {
		f.Add(seed, "one\ntwo\n")
	}
	f.Fuzz(func(t *testing.T, s, before string) {
		l := LookAt("Bash", raw(map[string]any{"command": s}), site("/work"))
		if got := shownMembers(t, l.Preview)["command"]; l.More == 0 && got != runs(s) {
			t.Errorf("%q is shown as %q, which is %q", s, l.Preview, got)
		}
		mustBeSeen(t, l.Preview)
		checkChange(t, before, s)
		checkChange(t, before, before+s)
	})
}
