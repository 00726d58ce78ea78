package taskfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/task"
)

const poolFile = `context: All is in docs.
each: {files: "docs/**/*.md"}
child:
  name: "{index}"
  prompt: Proofread {item}, number {index}
  deliverables: ["{item}.proof"]
prompt: Put together what they found
`

func TestAMapOfChildrenSaysTheSameAsAList(t *testing.T) {
	list, err := Parse([]byte("children:\n- {name: a, prompt: x, after: [b]}\n- {name: b, prompt: y}\n"))
	if err != nil {
		t.Fatal(err)
	}
	byName, err := Parse([]byte("children:\n  a: {prompt: x, after: [b]}\n  b: {prompt: y}\n"))
	if err != nil || !cmp.Equal(list, byName) {
		t.Errorf("%v\n%s", err, cmp.Diff(list, byName))
	}
}

// Children and pools that cannot be meant, and what is said of them.
var refusedChildren = []struct{ about, text, said string }{
	{"children that are a text", "children: x",
		`line 1: children takes a list, each entry on a line after "- ", or a map, NAME: CHILD, not text`},
	{"a child that is a text", "children: [x]", "line 1: a child holds a map, KEY: VALUE, not text"},
	{"a child without a task", "children:\n- name: a\n", "line 2: this child has no prompt: what is it to do?"},
	{"a misspelt key of a child", "children:\n- promt: x\n", `line 2: there is no key "promt"; did you mean prompt?`},
	{"a key that only the task has", "children:\n- {prompt: x, allow: [Bash]}",
		`line 2: there is no key "allow"` + "\n" + thoseThereAre},
	{"a child called twice", "children:\n- {name: a, prompt: x}\n- {name: a, prompt: y}",
		`line 3: two children are called "a"; the first is in line 2`},
	{"a child with two names", "children:\n  a: {name: b, prompt: x}", `line 2: child "a" has a second name, "b"`},
	{"a name that a terminal would obey", "children:\n  \"\\e[2J\": {prompt: x}",
		"line 2: the name of a child takes one line of text"},
	{"nobody of that name", "children:\n- {name: schema, prompt: x}\n- prompt: y\n  after:\n  - shema\n",
		`line 5: no child is called "shema"; did you mean schema?`},
	{"nobody of a like name", "children:\n- {name: a, prompt: x, after: [world]}", `line 2: no child is called "world"`},
	{"a child after itself", "children:\n- {name: a, prompt: x, after: [a]}",
		"line 2: these wait for one another, so none could begin: a"},
	{"a circle",
		"children:\n- {name: a, prompt: x, after: [c]}\n- {name: b, prompt: x, after: [a]}\n- {name: c, prompt: x, after: " +
			"[b]}", "line 2: these wait for one another, so none could begin: a, c, b"},
	{"a child after its parent", "children:\n- name: a\n  prompt: x\n  children:\n  - {prompt: y, after: [a]}",
		"line 2: these wait for one another, so none could begin: a, the one in line 5"},
	{"a parent after its child", "children:\n- name: a\n  prompt: x\n  after: [b]\n  children:\n  - {name: b, prompt: y}",
		"line 2: these wait for one another, so none could begin: a, b"},
	{"a grandchild after what comes after its grandparent",
		"children:\n- name: a\n  prompt: x\n  children:\n  - {prompt: y, after: [b]}\n- {name: b, prompt: z, after: [a]}",
		"line 2: these wait for one another, so none could begin: a, the one in line 5, b"},
	{"an unknown priority", "children: [{prompt: x, priority: high}]", `line 1: priority takes P0, P1 or P2, not "high"`},
	{"an unknown independence", "children: [{prompt: x, independence: yes}]",
		`line 1: independence takes can_proceed_parallel, blocks_current_work or optional, not "yes"`},
	{"a kind of agent that is a flag", "children: [{prompt: x, subagent_type: --x}]",
		`line 1: subagent_type takes the name of a kind of agent, such as code-reviewer, not "--x"`},
	{"a cost that is none", "children: [{prompt: x, max_cost_usd: free}]",
		`line 1: max_cost_usd takes a number above 0, not "free"`},
	{"a cost without end", "max_cost_usd: .inf", `line 1: max_cost_usd takes a number above 0, not ".inf"`},
	{"a time that is none", "max_time: soon", `line 1: max_time takes a duration such as 90s, 10m or 2h, not "soon"`},
	{"a worktree that is none", "worktree: mine", `line 1: worktree takes true or false, not "mine"`},
	{"an unknown policy", "delegate: always",
		`line 1: delegate takes ask, auto or deny, or one of them for each depth as in auto,ask, not "always"`},
	{"a pool of nothing", "each: {}\nchild: {prompt: x}",
		"line 1: each takes one of files: PATTERN and lines: FILE; a command is given by the person, with --each"},
	{"a pool of two kinds", "each: {files: a, lines: b}",
		"line 1: each takes one of files: PATTERN and lines: FILE; a command is given by the person, with --each"},
	{"a pool that names a program", "each: {command: ls}", `line 1: there is no key "command"` + "\n" + thoseThereAre},
	{"a pool beside children", "each: {files: a}\nchildren: [{prompt: x}]",
		"line 1: it states both children and a pool (each, child): give one of the two"},
	{"order in a pool", "each: {files: a}\nchild: {prompt: x, after: [b]}",
		`line 2: there is no key "after"` + "\n" + thoseThereAre},
	{"children eleven deep", nested(maxDepth + 1), "line 1: children can be at most 10 levels deep"},
}

// nested returns children so deep.
func nested(deep int) string {
	return strings.Repeat("{prompt: x, children: [", deep) + "{prompt: x}" + strings.Repeat("]}", deep)
}

func TestChildrenThatCannotBeMeantAreRefusedWithTheirLine(t *testing.T) {
	for _, c := range refusedChildren {
		_, err := Parse([]byte(c.text))
		if invalid := new(yamlfile.Invalid); !errors.As(err, &invalid) || err.Error() != c.said {
			t.Errorf("%s: %v\nwant %s", c.about, err, c.said)
		}
	}
	if _, err := Parse([]byte(nested(maxDepth))); err != nil {
		t.Errorf("as deep as they may be: %v", err)
	}
}

// many returns n children with this in each.
func many(n int, more func(i int) string) []byte {
	var b strings.Builder
	b.WriteString("children:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: c%d, prompt: x%s}\n", i, more(i))
	}
	return []byte(b.String())
}

func TestThereAreBoundsToHowManyChildrenAreStated(t *testing.T) {
	plain := func(int) string { return "" }
	_, err := Parse(many(maxTasks+10, plain))
	if want := fmt.Sprintf("line %d: a task can have at most 10000 children", maxTasks+2); err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	all := make([]string, 200)
	for i := range all {
		all[i] = fmt.Sprintf("c%d", i)
	}
	_, err = Parse(many(710, func(i int) string {
		if i < len(all) {
			return ""
		}
		return ", after: [" + strings.Join(all, ",") + "]"
	}))
	if err == nil || !strings.Contains(err.Error(), "too many children come after too many others") {
		t.Error(err)
	}
}

func TestALongChainOfAsManyChildrenAsThereMayBeIsNoCircle(t *testing.T) {
	f, err := Parse(many(maxTasks, func(i int) string {
		if i == 0 {
			return ""
		}
		return fmt.Sprintf(", after: [c%d]", i-1)
	}))
	if err != nil || len(f.Children) != maxTasks {
		t.Errorf("%d children: %v", len(f.Children), err)
	}
}

func TestStatedWorkIsInTheOrderOfTheFileWithParentsFirst(t *testing.T) {
	f, err := Parse([]byte(`
context: All is in ./api.
children:
  - name: api
    prompt: Write the API
    context: It is REST.
    after: [schema]
    children:
      - prompt: Write the routes
  - {name: schema, prompt: Write the schema, priority: P0, max_tokens: 7}
`))
	if err != nil {
		t.Fatal(err)
	}
	work := Work(f.Children, f.Brief.Context)
	var order []string
	for _, c := range work {
		order = append(order, fmt.Sprintf("%s below %q after %v: %s", c.Agent, c.Parent, c.Said.After,
			strings.SplitN(c.Task, "\n", 2)[0]))
	}
	if want := []string{`0 below "" after [2]: Write the API`, `1 below "0" after []: Write the routes`,
		`2 below "" after []: Write the schema`}; !slices.Equal(order, want) {
		t.Errorf("%q", order)
	}
	const want = "Write the API\n\n## CONTEXT\n\nAll is in ./api.\n\nIt is REST."
	if work[0].Task != want {
		t.Errorf("%s\nwant %s", work[0].Task, want)
	}
	if work[2].Priority != "P0" || work[2].Budget.Tokens != 7 || !strings.Contains(work[1].Task, "All is in ./api.") {
		t.Errorf("%+v", work)
	}
}

func TestATaskOfAPoolIsAboutItsItemAndNothingInThatStandsForMore(t *testing.T) {
	f, err := Parse([]byte(poolFile))
	if err != nil {
		t.Fatal(err)
	}
	const item = "docs/a {index}\n\x1b[2Jb.md"
	c := f.Template.Item(item, 7, f.Brief.Context)
	if !strings.HasPrefix(c.Task, "Proofread "+item+", number 7\n\n## CONTEXT\n\nAll is in docs.") ||
		c.Said.Item != item || c.Said.Name != "7" {
		t.Errorf("%q\n%+v", c.Task, c.Said)
	}
	if !slices.Equal(c.Deliverables, []string{"docs/a {index} [2Jb.md.proof"}) {
		t.Errorf("%q", c.Deliverables)
	}
	if f.Template.Name = ""; f.Template.Item(item, 7, "").Said.Name != "docs/a {index} [2Jb.md" {
		t.Errorf("without a name of its own it is called %q", f.Template.Item(item, 7, "").Said.Name)
	}
}

func TestTheTitleOfAnItemIsOneLineAndGivesBothEndsOfALongOne(t *testing.T) {
	for item, want := range map[string]string{
		"a.md": "a.md", "a\r\nb\t c": "a b c", "\x1b]0;x\a": "]0;x", "a\u202eb": "a b", "\xff": "", "日本語": "日本語",
		strings.Repeat("a", 50) + strings.Repeat("b", 50): strings.Repeat("a", 30) + "…" + strings.Repeat("b", 29),
	} {
		if got := Title(item); got != want {
			t.Errorf("%q is called %q, want %q", item, got, want)
		}
	}
}

func TestATemplateNamesItsItemInSomeText(t *testing.T) {
	for want, all := range map[bool][]Task{
		true: {
			{Prompt: "Read {item}"}, {Brief: task.Brief{Context: "{item}"}},
			{Brief: task.Brief{Goals: []string{"a", "{item}"}}},
			{Brief: task.Brief{SuccessCriteria: []string{"{item}"}}},
			{Brief: task.Brief{Deliverables: []string{"{item}"}}},
		},
		false: {{Prompt: "Read { item }"}, {Prompt: "Read {index}"}, {Name: "{item}", Prompt: "x"}},
	} {
		for _, c := range all {
			if c.Names() != want {
				t.Errorf("%+v: %t", c, !want)
			}
		}
	}
}

func BenchmarkParseAThousandChildren(b *testing.B) {
	text := many(1000, func(i int) string {
		if i == 0 {
			return ""
		}
		return fmt.Sprintf(", after: [c%d]", i-1)
	})
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
