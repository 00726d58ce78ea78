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

const cutOff = "[Tool call interrupted: the session ended before this call's result was recorded.]"

func TestTheConversationAloneDecidesTheReply(t *testing.T) {
	s, err := Parse([]byte(story))
	noError(t, err)
	task := user("<reminder>", "Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK\n\ndo it")
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"the first reply": {
			[]Message{system("prompt"), task, system("# Environment\n - Primary working directory: /home/dev/w\n - more")},
			"first of a-7Qm2xK9fWb4T in /home/dev/w",
		},
		"the next one after a tool's result": {[]Message{task, said("first"), user("result")}, "second"},
		"a message without text counts":      {[]Message{task, said(), user("result"), said()}, "third"},
		"a bare continue does not begin a turn": {[]Message{task, said("first"), user("cut"), user("## GO ON")},
			"second"},
		"a reply whose call was cut off is given again": {[]Message{task, said("first"), user(cutOff), user("## GO ON")},
			"first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"so is one whose command was killed": {[]Message{task, said("first"), user("Exit code 137"),
			user("## GO ON")}, "first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"and one whose result was never written": {[]Message{task, said("first"),
			user("[Tool result missing due to internal error]"), user("## GO ON")}, "first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"but not one whose command failed": {[]Message{task, said("first"), user("Exit code 1")}, "second"},
		"once, for all its calls": {[]Message{task, said("1"), user("r"),
			said("2"), user(cutOff, cutOff), user("## GO ON")}, "second"},
		"and then the next": {[]Message{task, said("1"), user(cutOff),
			user("## GO ON"), said("1"), user("r")}, "second"},
		"what only mentions a cut call is a result": {[]Message{task, said("1"), user("it says " + cutOff)}, "second"},
		"sent on after its last word, it says it again": {[]Message{task, said("1"), said("2"),
			said("3"), user("## GO ON")}, "third"},
		"nor does it in the task's own message": {[]Message{user(task.Texts[1], "## GO ON")},
			"first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"what the CLI itself says does not count": {[]Message{task, said("first"), user("cut"),
			said("No response requested."), user("go")}, "second"},
		"an answer begins a turn": {[]Message{task, said("a"), user("## ANSWER\nA1: x\nA2: y z ")},
			"you said x and y z"},
		"whose answers hold until it ends": {[]Message{task, said("a"), user("## ANSWER\nA1: x"),
			said("b"), user("result")}, "again x"},
		"one that came in the middle of a turn does too": {[]Message{task, said("a"), user("r"),
			system("sent while you worked:\n## ANSWER\nA1: x\nA2: y")}, "you said x and y"},
		"the newest decides": {[]Message{user("## ANSWER"), said("a"), task},
			"first of a-7Qm2xK9fWb4T in {{cwd}}"},
		"in one text, what stands furthest down": {[]Message{user("## YOUR TASK … ## ANSWER\nA1: x\nA2: y")},
			"you said x and y"},
		"in one message, the last text": {[]Message{user("## ANSWER", "## YOUR TASK")},
			"first of {{agent}} in {{cwd}}"},
		"what the model says begins no turn": {[]Message{task, said("## ANSWER")}, "second"},
		"a longer word is no agent id": {[]Message{user(
			"data-7Qm2xK9fWb4T a-short a-7Qm2xK9fWb4Tx ## YOUR TASK")}, "first of {{agent}} in {{cwd}}"},
		"an answer that was not given stays as it stands": {[]Message{user("## ANSWER")}, "you said {{A1}} and {{A2}}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next(c.conversation).Text; got != c.want {
				t.Errorf("it replies %q, not %q", got, c.want)
			}
		})
	}
}

func TestAnswersAndStateAreKnownInEveryForm(t *testing.T) {
	s, err := Parse([]byte(`
name: story
about: a story
prompt: do it
turns: [{when: "## YOUR TASK", replies: [{text: "{{A1}}, {{A2}} from {{state}}"}]}]
expect: {status: succeeded}
`))
	noError(t, err)
	for name, c := range map[string]struct{ told, want string }{
		"a clarification": {"## CLARIFICATION RESPONSE\n\nQ1: Which?\nA1: x\n\nQ2: What?\nA2: y", "x, y from {{state}}"},
		"awaiting": {"USER_INPUT_RESPONSE\n{\"q1\": \"x\"}\n\nContinue from state file: /w/a b.md\n\nq1: " +
			"Which?\nAnswer: x\n\nq2: What?\nAnswer: y\n", "x, y from /w/a b.md"},
		"paused": {"USER_INPUT_RESPONSE\n\nQuestion: Which?\nAnswer: x\nLetter: A\n\nContinue from state file: " +
			"/w/s.json\n", "x, {{A2}} from /w/s.json"},
		"escalated": {"Resume workflow from checkpoint: /tmp/w 1.json. User selected: x. Continue " +
			"implementation.\n\nw1: Which?\nAnswer: x\n", "x, {{A2}} from /tmp/w 1.json"},
		"a task's": {"User chose: \"x\". Continue from where you left off.\n\nQuestion: Which?\n",
			"x, {{A2}} from {{state}}"},
		"only in a line": {"they wrote Answer: x\nand > User chose: \"y\". Continue", "{{A1}}, {{A2}} from {{state}}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next([]Message{user("## YOUR TASK\n" + c.told)}).Text; got != c.want {
				t.Errorf("it says %q, not %q", got, c.want)
			}
		})
	}
}

func TestAnswersComeFromTheResultsOfTools(t *testing.T) {
	const ask = "{tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: Which?}]}}]}"
	s, err := Parse([]byte(`
name: story
about: a story
prompt: do it
turns:
  - when: "## YOUR TASK"
    replies: [` + ask + `, {text: "{{A1}} and {{A2}}"}]
  - when: "Your subagents"
    replies: [{text: "{{subagent1.task}} {{subagent1}}: {{subagent1.A1}}, {{subagent2.task}}: {{subagent2.A1}}"}]
expect: {status: succeeded}
`))
	noError(t, err)
	task, asked := user("## YOUR TASK"), Message{Role: Assistant}
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"a bare one":              {[]Message{task, asked, user("JWT")}, "JWT and {{A2}}"},
		"several, by their names": {[]Message{task, asked, user("A1: x\nA2: y")}, "x and y"},
		"one of a call cut off": {[]Message{task, asked, user("[Tool call interrupted"), asked, user("JWT")},
			"JWT and {{A2}}"},
		"what the CLI says is not": {[]Message{task, asked, user("JWT"), system("a date")}, "JWT and {{A2}}"},
		"what else is said is not": {[]Message{task, asked, user("JWT", "and more")}, "{{A1}} and {{A2}}"},
		"one with a reminder": {[]Message{task, asked, user("JWT", reminder+"\na date</system-reminder>")},
			"JWT and {{A2}}"},
		"what else a subagent hears is not": {[]Message{task, asked, user("JWT", coordinator+"\n## GO ON"),
			user(coordinator + "\n## GO ON")}, "JWT and {{A2}}"},
		"each subagent's": {[]Message{user(
			"Your subagents\na0123456789abcdef (one)\nA1: x\nto a0123456789abcdef.\nafedcba9876543210 (two)\nA1: y")},
			"one a0123456789abcdef: x, two: y"},
		"those of an older release": {[]Message{user(
			"Your subagents\na012345 (one)\nA1: x\nto a012345.\nafedcba (two)\nA1: y")},
			"one a012345: x, two: y"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next(c.conversation).Text; got != c.want {
				t.Errorf("it says %q, not %q", got, c.want)
			}
		})
	}
}

func TestPlaceholdersInAToolsInputAreFilledAndTheScenarioStaysAsItIs(t *testing.T) {
	s, err := Parse([]byte(story))
	noError(t, err)
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
	noError(t, err)
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

func BenchmarkNext(b *testing.B) {
	s, err := Load("ask")
	noError(b, err)
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
