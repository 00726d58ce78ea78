package examples

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const story = `
name: story
about: a story
prompt: do it
turns:
  - when: "## YOUR TASK"
    replies:
      - text: first of {{agent}} in {{cwd}}
      - text: second
        tools: [{name: Bash, input: {command: "cd {{cwd}}", list: ["{{agent}}", 3]}}]
      - text: third
  - when: "## ANSWER"
    replies:
      - text: you said {{A1}} and {{A2}}
      - text: again {{A1}}
expect: {status: succeeded}
`

func system(texts ...string) Message { return Message{Role: System, Texts: texts} }
func user(texts ...string) Message   { return Message{Role: User, Texts: texts} }
func said(texts ...string) Message   { return Message{Role: Assistant, Texts: texts} }

func TestTheConversationAloneDecidesTheReply(t *testing.T) {
	s, err := Parse([]byte(story))
	if err != nil {
		t.Fatal(err)
	}
	task := user("<reminder>", "Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK\n\ndo it")
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"the first reply": {
			[]Message{system("prompt"), task, system("# Environment\n - Primary working directory: /home/dev/w\n - more")},
			"first of a-7Qm2xK9fWb4T in /home/dev/w",
		},
		"the next one after a tool's result":              {[]Message{task, said("first"), user("result")}, "second"},
		"a message without text counts":                   {[]Message{task, said(), user("result"), said()}, "third"},
		"a bare go on does not begin a turn":              {[]Message{task, said("first"), user("cut"), user("## GO ON")}, "second"},
		"nor does it in the task's own message":           {[]Message{user(task.Texts[1], "## GO ON")}, "first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"what the CLI itself says does not count":         {[]Message{task, said("first"), user("cut"), said("No response requested."), user("go")}, "second"},
		"an answer begins a turn":                         {[]Message{task, said("a"), user("## ANSWER\nA1: x\nA2: y z ")}, "you said x and y z"},
		"whose answers hold until it ends":                {[]Message{task, said("a"), user("## ANSWER\nA1: x"), said("b"), user("result")}, "again x"},
		"one that came in the middle of a turn does too":  {[]Message{task, said("a"), user("r"), system("sent while you worked:\n## ANSWER\nA1: x\nA2: y")}, "you said x and y"},
		"the newest decides":                              {[]Message{user("## ANSWER"), said("a"), task}, "first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"in one text, what stands furthest down":          {[]Message{user("## YOUR TASK … ## ANSWER\nA1: x\nA2: y")}, "you said x and y"},
		"in one message, the last text":                   {[]Message{user("## ANSWER", "## YOUR TASK")}, "first of {{agent}} in {{cwd}}"},
		"what the model says begins no turn":              {[]Message{task, said("## ANSWER")}, "second"},
		"a longer word is no agent id":                    {[]Message{user("data-7Qm2xK9fWb4T a-short a-7Qm2xK9fWb4Tx ## YOUR TASK")}, "first of {{agent}} in {{cwd}}"},
		"an answer that was not given stays as it stands": {[]Message{user("## ANSWER")}, "you said {{A1}} and {{A2}}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next(c.conversation).Text; got != c.want {
				t.Errorf("it replies %q, not %q", got, c.want)
			}
		})
	}
}

func TestPlaceholdersInAToolsInputAreFilledAndTheScenarioStaysAsItIs(t *testing.T) {
	s, err := Parse([]byte(story))
	if err != nil {
		t.Fatal(err)
	}
	conversation := []Message{system("Working directory: /w"), user("a-7Qm2xK9fWb4T ## YOUR TASK"), said("first")}
	want := map[string]any{"command": "cd /w", "list": []any{"a-7Qm2xK9fWb4T", 3}}
	for range 2 { // a reply that was filled in place would be another one the second time
		if got := s.Next(conversation).Tools[0].Input; !reflect.DeepEqual(got, want) {
			t.Errorf("the input is %v, not %v", got, want)
		}
	}
	if got := s.Turns[0].Replies[1].Tools[0].Input["command"]; got != "cd {{cwd}}" {
		t.Errorf("the scenario says %q now", got)
	}
}

func TestWhereAScenarioHasNoReplyItSaysSo(t *testing.T) {
	s, err := Parse([]byte(story))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"no turn has begun":   {[]Message{user("hello")}, "no turn of it begins"},
		"nothing was said":    {nil, "no turn of it begins"},
		"the turn is at end":  {[]Message{user("## ANSWER"), said("1"), said("2")}, `"## ANSWER" has no reply 3`},
		"only the model said": {[]Message{said("## YOUR TASK")}, "no turn of it begins"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Next(c.conversation)
			if !strings.Contains(got.Text, c.want) || !strings.Contains(got.Text, "story") || len(got.Tools) > 0 {
				t.Errorf("it replies %+v", got)
			}
		})
	}
}

func TestContentIsATextOrBlocks(t *testing.T) {
	for data, want := range map[string][]string{
		`"plain"`: {"plain"},
		`[]`:      nil,
		`[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]`:                       {"a", "b"},
		`[{"type":"tool_result","content":"r"},{"type":"tool_use","text":"not this"}]`:                   {"r"},
		`[{"type":"tool_result","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`:     {"x", "y"},
		`[{"type":"tool_result"},{"type":"tool_result","content":null},{"type":"text","text":"\u00e9"}]`: {"é"},
	} {
		var c Content
		if err := c.UnmarshalJSON([]byte(data)); err != nil {
			t.Errorf("%s: %v", data, err)
		} else if got := c.Texts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the texts are %q, not %q", data, got, want)
		}
	}
	for _, data := range []string{`3`, `{"type":"text"}`, `["a"]`, `"cut`, ``} {
		var c Content
		if err := c.UnmarshalJSON([]byte(data)); err == nil {
			t.Errorf("%s is taken for content: %v", data, c)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	s, err := Load("ask")
	if err != nil {
		b.Fatal(err)
	}
	for _, messages := range []int{4, 400} {
		b.Run(fmt.Sprint(messages, "messages"), func(b *testing.B) {
			conversation := []Message{user("Your agent id: a-7Qm2xK9fWb4T\n## YOUR TASK\n" + s.Prompt)}
			for range messages / 2 {
				conversation = append(conversation, user(strings.Repeat("a result of a tool\n", 50)), said("on it"))
			}
			conversation = append(conversation, user("## CLARIFICATION RESPONSE\nA1: JWT"))
			for b.Loop() {
				s.Next(conversation)
			}
		})
	}
}
