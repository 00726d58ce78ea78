package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a person gets wrong in a file is said in words of the file, and not in those of the program's source.
func TestNoErrorOfAFileNamesAGoTypeOrFunction(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`strconv\.|json: |yaml: |go-yaml|[^-]exec: |unmarshal|Go value|\[\]|struct \{|` +
		`\b[a-z]+\.[A-Z]\w+\b`)
	w := demoWorld(t)
	refused := 0
	for name, text := range map[string]string{
		"members.yaml": "name: [1]\nprompt: {a: b}\nanswers: 7\nturns: yes\nhold: [a]\nmax_turns: x\nexpect: 3\n",
		"broken.yaml":  "prompt: \"x\n  : : -\n", "number.yaml": "7\n", "list.yaml": "[1, 2]\n", "empty.yaml": "",
		"cut.json": `{"hook_event_name":`, "members.json": `{"hook_event_name": 3, "stop_hook_active": "x"}`,
	} {
		w.writes(name, text)
		path := filepath.Join(w.cwd, name)
		for _, args := range [][]string{
			{"run", "-f", path}, {"run", "--demo", path}, {"run", "--demo", "ask", "--on-question", "fail", "--answers", path},
			{"run", "--exec", path, "Do it"}, {"run", "--notify", path + "-", "--demo", "ask"}, {"unpack", path},
		} {
			code, stdout, stderr := w.run(args...)
			if code != 0 {
				refused++
			}
			if said := strings.ReplaceAll(stdout+stderr, path, "FILE"); names.MatchString(said) {
				t.Errorf("%q says %q", args, said)
			}
		}
		hook := w.command("lint", "--hook")
		hook.Stdin = strings.NewReader(text)
		if said, _ := hook.CombinedOutput(); names.Match(said) {
			t.Errorf("lint --hook says %q of %q", said, text)
		}
	}
	if refused < 30 {
		t.Errorf("only %d of the commands refuse what is wrong", refused)
	}
}
