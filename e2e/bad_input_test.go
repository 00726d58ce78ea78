package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// names are those of the program's source, which are no help to a person.
var names = regexp.MustCompile(`strconv\.|json: |yaml: |go-yaml|[^-]exec: |unmarshal|Go value|\[\]|struct \{|` +
	`\b[a-z]+\.[A-Z]\w+\b|gzip: |tar: |lookup `)

// What a person gets wrong in a file is said in words of the file, and not in those of the program's source.
func TestNoErrorOfAFileNamesAGoTypeOrFunction(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	refused := 0
	for name, text := range map[string]string{
		"members.yaml": "name: [1]\nprompt: {a: b}\nanswers: 7\nturns: yes\nhold: [a]\nmax_turns: x\nexpect: 3\n",
		"broken.yaml":  "prompt: \"x\n  : : -\n", "number.yaml": "7\n", "list.yaml": "[1, 2]\n", "empty.yaml": "",
		"cut.json": `{"hook_event_name":`, "members.json": `{"hook_event_name": 3, "stop_hook_active": "x"}`,
	} {
		w.writes(name, text)
		path := filepath.Join(w.Cwd, name)
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
		hook := w.Command("lint", "--hook")
		hook.Stdin = strings.NewReader(text)
		if said, _ := hook.CombinedOutput(); names.Match(said) {
			t.Errorf("lint --hook says %q of %q", said, text)
		}
	}
	if refused < 30 {
		t.Errorf("only %d of the commands refuse what is wrong", refused)
	}
}

func TestNoErrorOfTheConfigNamesAGoTypeOrFunction(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	for _, text := range []string{"7\n", "[1]\n", "hold: [a]\n", "hold: {a: b}\n", "hold: x\n", "hold: !!int x\n",
		"max_cost_usd: 1e999\n", "max_tokens: 99999999999999999999\n", "max_turns: 1.5\n", "plain: maybe\n", "nope: 1\n",
		"allow: 3\n", "folders: {x: 3}\n", "serve: {url: [1]}\n", "notify: {ntfy: {url: ':::'}}\n", "hold: 'x\n : -",
		"%YAML 3\n", "\xff\xfe\n", "hold: 1m\nhold: 2m\n"} {
		w.configure(text)
		code, said, stderr := w.run("doctor")
		if said += stderr; code != 1 || names.MatchString(said) || !strings.Contains(said, "config.yaml cannot be used") {
			t.Errorf("of a config.yaml with %q doctor says %q", text, said)
		}
	}
}
