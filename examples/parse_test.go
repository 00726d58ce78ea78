package examples

import (
	"path"
	"strings"
	"testing"
)

const minimal = `
name: mine
about: mine
prompt: do it
turns:
  - when: "## YOUR TASK"
    replies: [{text: done}]
expect: {status: succeeded}
`

func TestAScenarioThatSaysLessThanItSeemsToIsRefused(t *testing.T) {
	if _, err := Parse([]byte(minimal)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"no name":               {"name: mine", "", "no name"},
		"no about":              {"about: mine", "", "no about"},
		"no prompt":             {"prompt: do it", "", "no prompt"},
		"no turns":              {"replies: [{text: done}]", "replies: []", "lacks its when or its replies"},
		"no when":               {`when: "## YOUR TASK"`, `when: ""`, "lacks its when or its replies"},
		"an unknown key":        {"prompt: do it", "prompt: do it\nprompts: do it", "prompts"},
		"an unknown key inside": {"{text: done}", "{text: done, tool: x}", "tool"},
		"a key twice":           {"name: mine", "name: mine\nname: other", "name"},
		"an unknown status":     {"succeeded", "success", `"success"`},
		"an empty reply":        {"{text: done}", "{}", "one of"},
		"text and a crash":      {"{text: done}", "{text: done, crash: 1}", "one of"},
		"no failure":            {"{text: done}", "{api_error: {status: 200, message: OK}}", "200"},
		"no exit status":        {"{text: done}", "{crash: 300}", "300"},
		"a tool without a name": {"{text: done}", "{tools: [{input: {}}]}", "no name"},
		"a strange placeholder": {"{text: done}", `{text: "{{agents}}"}`, "{{agents}}"},
		"one in a tool's input": {"{text: done}", `{tools: [{name: X, input: {a: [{b: "{{B1}}"}]}}]}`, "{{B1}}"},
		"an unknown fact":       {"{text: done}", `{text: "{{child1.task}}"}`, "{{child1.task}}"},
		"a turn that never is":  {"expect:", "  - {when: \"## YOUR TASK\", replies: [{text: x}]}\nexpect:", "never comes"},
		"an impossible turn":    {"replies:", "ended: -1\n    replies:", "less than nothing"},
		"a child without a task": {"expect:", "children: [{turns: [{when: x, replies: [{text: x}]}]}]\nexpect:",
			"child 1 lacks"},
		"a child without turns": {"expect:", "children: [{task: x}]\nexpect:", "child 1 lacks"},
		"a child's bad turn":    {"expect:", "children: [{task: x, turns: [{when: x}]}]\nexpect:", "child 1: turn 1"},
		"a child that never is": {"expect:",
			"children: [{task: x, turns: &t [{when: x, replies: [{text: x}]}]}, {task: x y, turns: *t}]\nexpect:",
			"no agent is child 2"},
		"a limit without end":    {"{text: done}", "{api_error: {status: 429, message: later, lasts: 2s}}", "until when"},
		"an end without limit":   {"{text: done}", `{api_error: {status: 429, message: "resets {{reset}}"}}`, "until when"},
		"a negative bill":        {"{text: done}", "{text: done, usage: {output: -1}}", "less than nothing"},
		"an answer to nothing":   {"prompt: do it", "prompt: do it\nanswers: [{answer: x}]", "answer 1"},
		"two documents":          {"expect:", "---\nexpect:", "document"},
		"a list":                 {minimal, "- a", "scenario"},
		"not YAML":               {minimal, "a: [", ""},
		"nothing":                {minimal, "", ""},
		"a crash that is a text": {"{text: done}", "{crash: yes it does}", "int"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(strings.Replace(minimal, c.from, c.to, 1)))
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.want)) {
				t.Errorf("the error is %v, and does not name %q", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal), "## YOUR TASK")
	for _, file := range builtIn() {
		data, err := files.ReadFile(file)
		noError(f, err)
		if path.Base(file) == scenarioFile {
			data = append([]byte("prompt: that of its task\n"), data...)
		}
		f.Add(data, "A1: x\n## YOUR TASK a-7Qm2xK9fWb4T")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		conversation := []Message{{Role: User, Texts: []string{text, s.Turns[0].When}}}
		for range 3 {
			r := s.Next(conversation)
			if r.check() != nil && !strings.Contains(text, "{{") {
				t.Fatalf("it replies with what a scenario may not say: %+v", r)
			}
			conversation = append(conversation, Message{Role: Assistant, Texts: []string{r.Text}})
		}
	})
}
