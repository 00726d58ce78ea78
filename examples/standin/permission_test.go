package standin

import (
	"io"
	"testing"

	"claude-supervise/examples"
)

func TestARuleLetsThroughWhatItNamesAndNoMore(t *testing.T) {
	bash := func(command string) call { return call{name: "Bash", input: map[string]any{"command": command}} }
	write := call{name: "Write", input: map[string]any{"file_path": "x"}}
	for name, c := range map[string]struct {
		rule string
		call call
		want bool
	}{
		"a tool":                  {"Write", write, true},
		"another":                 {"Write", bash("ls"), false},
		"a name that begins so":   {"Wri", write, false},
		"any command":             {"Bash", bash("rm -rf x"), true},
		"any, by a star":          {"Bash(*)", bash("rm -rf x"), true},
		"one command":             {"Bash(git status)", bash("git status"), true},
		"one that continues":      {"Bash(git status)", bash("git status -s"), false},
		"a prefix":                {"Bash(git log:*)", bash("git log -1"), true},
		"a prefix that is longer": {"Bash(git log:*)", bash("git lo"), false},
		"a rule for a file":       {"Write(y)", write, false},
		"an empty one":            {"", write, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(examples.Scenario{}, options{allowed: []string{c.rule}}, "/w", nil, io.Discard)
			if got := a.allowedByRule(c.call); got != c.want {
				t.Errorf("%s lets it through: %v", c.rule, got)
			}
		})
	}
}

func TestAPathIsInsideByItsName(t *testing.T) {
	a := newAgent(examples.Scenario{}, options{}, "/home/w", nil, io.Discard)
	for path, want := range map[string]bool{
		"x": true, "./a/../x": true, "/home/w/x": true, "/home/w": true, "..": false, "../w/x": true,
		"/home/wide": false, "/": false,
		"../../etc/passwd": false,
	} {
		if got := a.inside(a.path(call{input: map[string]any{"file_path": path}})); got != want {
			t.Errorf("%s is inside: %v", path, got)
		}
	}
}

func TestAnAnswerThatIsNeitherYesNorNoIsARefusal(t *testing.T) {
	for _, answer := range []string{`{}`, `{"behavior":"maybe"}`, `{"behavior":3}`, `null`, `[]`, ``} {
		if v, interrupt := decide([]byte(answer)); v.allowed || interrupt || v.refusal.text == "" {
			t.Errorf("%q allows it: %+v", answer, v)
		}
	}
}
