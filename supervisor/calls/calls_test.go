package calls

import (
	"slices"
	"strings"
	"testing"

	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// What a call does is read off its input, whatever the model says of it and in whatever order: of each tool that we know
// and of one that we do not.
func TestNoHeadlineIsWhatTheModelSaysOfACall(t *testing.T) {
	for _, tool := range all {
		input := map[string]string{}
		for _, name := range slices.Concat(tool.Said, tool.More) {
			input[name] = "harmless"
		}
		for _, name := range tool.Head {
			input[name] = "does-" + name
		}
		var parts []string
		for _, name := range tool.Head {
			parts = append(parts, input[name])
		}
		if got, want := Of(tool.Name).Headline(text.JSON(input)).String(), strings.Join(parts, ": "); got != want {
			t.Errorf("%s is headed %q, want %q", tool.Name, got, want)
		}
		members := tool.Members(text.JSON(input))
		for _, name := range tool.Said {
			if len(tool.Head) > 0 && strings.Index(members, name+": ") < strings.Index(members, tool.Head[0]+": ") {
				t.Errorf("of %s what it says stands first:\n%s", tool.Name, members)
			}
		}
	}
	for _, tool := range []string{"Powerful", "mcp__files__run"} {
		got := Of(tool).Headline([]byte(`{"description":"tidy up","mode":"x","command":"rm -r ."}`)).String()
		if want := "command: rm -r ., mode: x, description: tidy up"; got != want {
			t.Errorf("%s is headed %q, want %q", tool, got, want)
		}
	}
	for input, want := range map[string]string{`{}`: "", `null`: "", `[1]`: "[1]", `"a` + "\u202e" + `b"`: `"a\u202eb"`,
		`{"command":"one\ntwo"}`: "one… (+1 line, 4 bytes)", `{"command":5}`: "5", `{"description":"d"}`: ""} {
		if got := Of("Bash").Headline([]byte(input)).String(); got != want {
			t.Errorf("%s is headed %q, want %q", input, got, want)
		}
	}
}

// A rule that names a tool alone permits every call of it: so none is offered for a tool that runs or writes something.
func TestARuleIsOfferedWhereItSaysWhatItPermits(t *testing.T) {
	for _, tool := range all {
		if tool.Acts && tool.Rule == ByTool && tool.Name != "WebSearch" { // which asks of one provider only
			t.Errorf("a rule permits all that %s does", tool.Name)
		}
		if (tool.Rule == ByFile) != (rules.FileTool(tool.Name) != "") {
			t.Errorf("whether a rule about files is for %s, packages calls and rules see differently", tool.Name)
		}
	}
	for name, want := range map[string]Rule{"Powerful": NoRule, "Monitor": NoRule, "Workflow": NoRule,
		"mcp__files__run": ByTool, "Task": ByName} {
		if got := Of(name).Rule; got != want {
			t.Errorf("the rule for %s is of kind %d, want %d", name, got, want)
		}
	}
}
