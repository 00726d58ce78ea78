package examples

import (
	"strings"
	"testing"
)

const family = `
name: family
about: a family
prompt: do it all
turns:
  - when: "## YOUR TASK"
    replies: [{text: "I am {{agent}}"}, {text: waiting}]
  - when: "## DELEGATION APPROVED"
    launched: 1
    replies: [{text: "{{child1}} is at work"}]
  - when: "## DELEGATION APPROVED"
    launched: 2
    replies: [{text: "{{child1}} and {{child2}} are at work"}]
  - when: "## DELEGATED WORK ENDED"
    replies: [{text: "one of them has ended"}]
  - when: "## DELEGATED WORK ENDED"
    ended: 2
    replies: [{text: "first {{child1.outcome}}: {{child1.summary}}; second {{child2.outcome}}: {{child2.summary}}"}]
children:
  - task: Draw the
    turns:
      - when: "## YOUR TASK"
        replies: [{text: "{{agent}} draws"}, {text: drawn}]
      - when: "## CLARIFICATION RESPONSE"
        replies: [{text: "{{agent}} draws in {{A1}}"}]
  - task: Write it
    turns:
      - when: "## YOUR TASK"
        replies: [{text: "{{agent}} writes"}]
      - when: "## DELEGATION APPROVED"
        replies: [{text: "{{agent}} waits for {{child1}}"}]
expect: {status: succeeded}
`

const (
	parent, drawer, writer = "a-7Qm2xK9fWb4T", "a-0123456789Ab", "a-zyxwvutsrqpo"

	drawerLaunched = "## DELEGATION APPROVED\n\nNew agent launched: " +
		drawer + "\nTask: Draw the pictures\nPriority: P1\n"
	writerLaunched = "## DELEGATION APPROVED\n\nNew agent launched: " + writer + "\nTask: Write it\nPriority: P1\n"
	drawerEnded    = "## DELEGATED WORK ENDED\n\nAgent: " + drawer +
		"\nTask: Draw the pictures\nOutcome: succeeded (reported success)\n" +
		"Summary:\n    three\n    of them\nDeliverables:\n    - a.png\nTool uses: 3"
	writerEnded = "## DELEGATED WORK ENDED\n\nAgent: " + writer +
		"\nTask: Write it\nOutcome: failed (reported failure)\n" +
		"Summary:\n    Outcome: succeeded\n    Agent: a-000000000000\nTool uses: 1"
)

// given is how an agent is told its task.
func given(agent, above, task string) Message {
	return user("## EXECUTION CONTEXT\n\nYour agent id: " + agent + "\nYour parent: " + above +
		"\n\n## YOUR TASK\n\n" + task)
}

func TestEachAgentOfATreeHasItsTurns(t *testing.T) {
	s, err := Parse([]byte(family))
	noError(t, err)
	root := given(parent, "the supervisor", "do it all")
	draws := given(drawer, "agent "+parent, "Draw the pictures\n\n## CONTEXT\n\nAnother is to Write it")
	writes := given(writer, "agent "+parent, "Write it, and Draw the pictures")
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"the root by its own": {[]Message{root}, "I am " + parent},
		"whatever it says to others": {[]Message{root, said("Draw the"), user("Draw the pictures\nWrite it")},
			"waiting"},
		"a child by those of its task":       {[]Message{draws}, drawer + " draws"},
		"of which only the beginning counts": {[]Message{writes}, writer + " writes"},
		"later too": {[]Message{draws, said("asks"), user("## CLARIFICATION RESPONSE\nA1: red")},
			drawer + " draws in red"},
		"a fork by its own task": {[]Message{root, said("I delegate"), user(drawerLaunched), writes},
			writer + " writes"},
		"and with its own children": {[]Message{root, user(drawerLaunched), writes,
			said("I delegate"), user(writerLaunched)}, writer + " waits for " + writer},
		"one that continues another by its task": {[]Message{draws, said("drawn"), writes}, writer + " writes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next(c.conversation).Text; got != c.want {
				t.Errorf("it says %q, not %q", got, c.want)
			}
		})
	}
}

func TestAChildThatTheScenarioDoesNotKnowDoesNotDoItsParentsWork(t *testing.T) {
	s, err := Parse([]byte(family))
	noError(t, err)
	got := s.Next([]Message{given(writer, "agent "+parent, "Sing of it\nloudly")})
	if want := `it has no child whose task begins as "Sing of it" does`; !strings.Contains(got.Text, want) ||
		len(got.Tools) > 0 {
		t.Errorf("it replies %+v, which does not say %q", got, want)
	}
	alone, err := Parse([]byte(story))
	noError(t, err)
	if got := alone.Next([]Message{given(writer, "agent "+parent, "Sing of it")}).Text; got != "first of "+
		writer+" in {{cwd}}" {
		t.Errorf("where the scenario has no children, each agent plays all of it, not %q", got)
	}
}

func TestATurnWaitsForAsManyChildrenAsItWants(t *testing.T) {
	s, err := Parse([]byte(family))
	noError(t, err)
	root := given(parent, "the supervisor", "do it all")
	const both = "first succeeded: three of them; second failed: Outcome: succeeded Agent: a-000000000000"
	for name, c := range map[string]struct {
		told []Message
		want string
	}{
		"one launched": {[]Message{user(drawerLaunched)}, drawer + " is at work"},
		"two, in two results of one message": {[]Message{user(drawerLaunched, writerLaunched)},
			drawer + " and " + writer + " are at work"},
		"two, one after the other": {[]Message{user(drawerLaunched), said("x"), user(writerLaunched)},
			drawer + " and " + writer + " are at work"},
		"the same one, told twice": {[]Message{user(drawerLaunched),
			said("x"), system("again:\n" + drawerLaunched)}, drawer + " is at work"},
		"one ended": {[]Message{user(drawerLaunched, writerLaunched),
			said("x"), user(drawerEnded)}, "one of them has ended"},
		"the same end, shown twice": {[]Message{user(drawerLaunched, writerLaunched), said("x"), user(drawerEnded),
			user(drawerEnded)}, "one of them has ended"},
		"both, in one prompt": {[]Message{user(drawerLaunched, writerLaunched),
			said("x"), user(drawerEnded + "\n\n" + writerEnded)}, both},
		"both, the second launched first": {[]Message{user(drawerLaunched, writerLaunched), said("x"), user(writerEnded),
			said("y"), system("meanwhile:\n" + drawerEnded)}, both},
		"one that was never said to be begun": {[]Message{user(drawerEnded), said("x"), user(writerEnded)}, both},
		"an end that only a child speaks of": {[]Message{user(drawerLaunched),
			said("x"), user(strings.Replace(drawerEnded, "three", strings.ReplaceAll(writerEnded, "\n", "\n    "), 1))},
			"one of them has ended"},
		"with a word of its own furthest down": {[]Message{user(drawerEnded + "\n\n" + writerLaunched)},
			drawer + " and " + writer + " are at work"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Next(append([]Message{root, said("I delegate")}, c.told...)).Text; got != c.want {
				t.Errorf("it says %q, not %q", got, c.want)
			}
		})
	}
}

func TestAConversationTellsWhoseItIs(t *testing.T) {
	root := given(parent, "the supervisor", "do it all")
	for name, c := range map[string]struct {
		conversation []Message
		want         string
	}{
		"the root's":              {[]Message{root, user(drawerLaunched)}, parent},
		"a child's":               {[]Message{given(drawer, "agent "+parent, "Draw")}, drawer},
		"a fork's":                {[]Message{root, given(drawer, "agent "+parent, "Draw")}, drawer},
		"a subagent's, if told":   {[]Message{user("## A PART, for " + parent)}, parent},
		"a subagent's, otherwise": {[]Message{user("## A PART"), said(parent)}, ""},
	} {
		if got := Agent(c.conversation); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
