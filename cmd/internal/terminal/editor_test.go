package terminal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// editing is an editor that leaves a text in its file, and shows what it has found there.
func editing(t *testing.T, leaves func(file string) error) (e editor, found *string) {
	t.Helper()
	found = new(string)
	env := map[string]string{"EDITOR": "ed -s", "TERM": "dumb", "VISUAL": "vi"}
	folder := t.TempDir()
	return newEditor(func(name string) string { return env[name] }, Drafts{Folder: func(string) string { return folder }},
		func(_ context.Context, cmd *exec.Cmd) error {
			file := cmd.Args[len(cmd.Args)-1]
			if want := []string{"sh", "-c", `ed -s "$@"`, "ed -s"}; strings.Join(cmd.Args[:4], "|") != strings.Join(want, "|") {
				t.Errorf("it runs %q", cmd.Args)
			}
			data, err := os.ReadFile(file)
			*found = string(data)
			return errors.Join(err, leaves(file))
		}), found
}

func leaving(text string) func(string) error {
	return func(file string) error { return os.WriteFile(file, []byte(text), 0o600) }
}

func TestWhatTheEditorLeavesIsMadeSafe(t *testing.T) {
	q := question("q-1")
	q.Run, q.Context = "r-1", "vim: set modelineexpr foldexpr=system('x'):\nex: set x\n-*- eval: (x) -*-\nLocal Variables:\x1b[2J"
	e, found := editing(t, leaving("# a heading\r\none\x1b[31m\ttwo\u202e\n\n\n"+scissors+"\n# What about q-1?\n"))
	if text, err := e.write(t.Context(), q, ""); err != nil || text != "# a heading\none\ttwo" {
		t.Errorf("it is %q, %v", text, err)
	}
	if obeyed.MatchString(*found) || strings.Contains(*found, "\x1b") || !strings.Contains(*found, "\n# vim : set modeline") {
		t.Errorf("the editor reads:\n%s", *found)
	}
	for _, row := range strings.Split(strings.TrimSuffix(*found, "\n"), "\n")[2:] {
		if !strings.HasPrefix(row, "#") {
			t.Errorf("%q is no comment", row)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(e.drafts.Folder(""), "*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

func TestADraftOutlastsAnEditorThatLeavesNothing(t *testing.T) {
	secret := question("q-1")
	secret.Run, secret.Secret = "r-1", true
	plain := question("q-1")
	plain.Run = "r-1"
	for name, c := range map[string]struct {
		q      Question
		draft  string
		leaves func(string) error
		no     string
	}{
		"a secret":       {secret, "", leaving("x"), "is not written to a file"},
		"an instruction": {plain, "x\n# vim: set ft=md", leaving("x"), "an editor would obey"},
		"nothing":        {plain, "x", leaving(" \n"), "nothing was left"},
		"gone":           {plain, "x", os.Remove, "cannot be read"},
		"a link": {plain, "x", func(file string) error {
			return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file))
		}, "cannot be read"},
		"too long": {plain, "x", leaving(strings.Repeat("long ", maxText/4)), "longer than an answer can be; it is kept in "},
		"a failure": {plain, "x", func(string) error { return errors.New("exit 1") },
			"ed failed (exit 1), and the draft is as before"},
	} {
		e, _ := editing(t, c.leaves)
		if text, err := e.write(t.Context(), c.q, c.draft); text != "" || err == nil || !strings.Contains(err.Error(), c.no) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	none := newEditor(func(string) string { return "" }, Drafts{}, nil)
	if _, err := none.write(t.Context(), plain, ""); err == nil || none.named(plain) != "" {
		t.Errorf("without an editor: %v", err)
	}
}

// What is printed while another program has the terminal is shown once it has ended.
func TestNothingIsDrawnOverAProgramThatHasTheTerminal(t *testing.T) {
	d := enterAble(t, question("q-1"))
	d.sees(formFoot)
	d.printer.lend(true)
	d.printer.finishLine(t.Context())
	before := len(d.everything())
	d.printer.Notice("! something is wrong")
	d.printer.finishLine(t.Context())
	if shown := d.everything()[before:]; strings.Contains(shown, "wrong") {
		t.Errorf("it is shown: %q", shown)
	}
	d.printer.lend(false)
	d.sees("! something is wrong\r\n")
	d.sees(formFoot)
}
