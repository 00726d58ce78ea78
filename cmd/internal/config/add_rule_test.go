package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARuleIsAddedAndNoOtherByteIsChanged(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"to no file":          {"", "folders:\n  'DIR/w':\n    allow:\n      - 'Bash(it''s *)'\n"},
		"without folders":     {"# mine\nhold: 10m # long\n", "# mine\nfolders:\n  'DIR/w':\n    allow:\n      - 'Bash(it''s *)'\nhold: 10m # long\n"},
		"to another folder":   {"folders:\n    ~/x: {hold: 1h}\nhold: 10m", "folders:\n    'DIR/w':\n      allow:\n        - 'Bash(it''s *)'\n    ~/x: {hold: 1h}\nhold: 10m\n"},
		"to the folder":       {"folders:\n  ~/w:\n    hold: 1h\n", "folders:\n  ~/w:\n    allow:\n      - 'Bash(it''s *)'\n    hold: 1h\n"},
		"to its rules":        {"folders:\n  ~/w:\n    allow:\n    - Bash(ls) # short\n", "folders:\n  ~/w:\n    allow:\n    - 'Bash(it''s *)'\n    - Bash(ls) # short\n"},
		"to deeper rules":     {"folders:\n  ~/w/:\n    allow:\n      - Bash(ls)\n", "folders:\n  ~/w/:\n    allow:\n      - 'Bash(it''s *)'\n      - Bash(ls)\n"},
		"not into a flow":     {"folders: {~/w: {hold: 1h}}\n", ""},
		"not into a folder's": {"folders:\n  ~/w: {hold: 1h}\n", ""},
		"not into a list's":   {"folders:\n  ~/w:\n    allow: [Bash(ls)]\n", ""},
		"not into nonsense":   {"folders: [1\n", ""},
		"not beside unknown":  {"hodl: 1m\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, env := home(t, test.before)
			if test.before == "" {
				if err := os.Remove(file(dir)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("HOME", dir)
			path, text, err := AddRule(env, dir+"/w", "Bash(it's *)")
			if test.after == "" {
				if err == nil {
					t.Errorf("it becomes\n%s", text)
				}
				return
			}
			if err != nil || path != file(dir) {
				t.Fatalf("%s: %v", path, err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(test.after, "DIR", dir), string(text)); diff != "" {
				t.Errorf("it is another:\n%s", diff)
			}
			if err := os.WriteFile(file(dir), text, 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Load(env)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(flags(t, c, dir+"/w"), " "); !strings.Contains(got, "allow=Bash(it's *)") {
				t.Errorf("in the folder there is %s", got)
			}
			if got := strings.Join(flags(t, c, dir+"/elsewhere"), " "); strings.Contains(got, "allow=Bash(it's *)") {
				t.Errorf("elsewhere there is %s", got)
			}
		})
	}
}
