package taskfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
)

const whole = `# yaml-language-server: $schema=task.schema.json
prompt: Write MIGRATION.md for the move to PostgreSQL
context: |
  The service is in ./api; its tables are in db/schema.sql.
goals:
  - every table has a plan
success_criteria:
  - every table of db/schema.sql has a section
deliverables:
  - MIGRATION.md
name: migration
model: opus
max_turns: 40
permissions: deny
answers:
  Which version: "17"
  port: 8080
accept_ids: [bg-task-1]
hold: 10m
estimated_duration: 2-3 hours
max_parallel: 2
max_depth: 4
max_agents: 30
delegate: auto, ask
worktree: true
max_cost_usd: 2.5
max_tokens: 100000
max_time: 1h30m
children:
  - name: schema
    prompt: Write db/schema.sql
    context: PostgreSQL 17
    goals: [it loads]
    success_criteria: [psql takes it]
    deliverables: [db/schema.sql]
    priority: P0
    subagent_type: dba
    model: haiku
    max_turns: 9
    estimated_duration: 20 min
    max_cost_usd: 1
    max_tokens: 5k
    max_time: 10m
  - prompt: Write the API
    after: [schema]
    independence: optional
    children:
      routes: {prompt: Write the routes}
`

var wholeFile = File{
	Task: Task{
		Prompt: "Write MIGRATION.md for the move to PostgreSQL",
		Brief: task.Brief{
			Context: "The service is in ./api; its tables are in db/schema.sql.\n",
			Goals:   []string{"every table has a plan"}, SuccessCriteria: []string{"every table of db/schema.sql has a section"},
			Deliverables: []string{"MIGRATION.md"},
		},
		Name: "migration", Model: "opus", MaxTurns: 40, Estimated: "2-3 hours",
		Budget: conf.Budget{CostUSD: 2.5, Tokens: 100000, Time: 90 * time.Minute},
	},
	Permissions: conf.DenyPermissions,
	Answers: []conf.Preset{
		{Key: "Which version", Value: "17", FromFile: true}, {Key: "port", Value: "8080", FromFile: true},
	},
	AcceptIDs: []string{"bg-task-1"}, Hold: "10m",
	MaxParallel: 2, MaxDepth: 4, MaxAgents: 30,
	Delegate: conf.Delegates{conf.AutoDelegations, conf.AskDelegations},
	Worktree: true,
	Children: []Child{
		{
			Task: Task{Name: "schema", Prompt: "Write db/schema.sql", Brief: task.Brief{
				Context: "PostgreSQL 17", Goals: []string{"it loads"}, SuccessCriteria: []string{"psql takes it"},
				Deliverables: []string{"db/schema.sql"},
			},
				Model: "haiku", MaxTurns: 9, Estimated: "20 min",
				Budget: conf.Budget{CostUSD: 1, Tokens: 5000, Time: 10 * time.Minute}},
			Priority: "P0", Type: "dba",
		},
		{Task: Task{Prompt: "Write the API"}, After: []string{"schema"}, Independence: "optional",
			Children: []Child{{Task: Task{Name: "routes", Prompt: "Write the routes"}}}},
	},
}

func TestATaskFileSaysAllThatItsKeysSay(t *testing.T) {
	got, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wholeFile, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for text, want := range map[string]File{
		"\ufeffprompt: x\r\n":             {Task: Task{Prompt: "x"}},
		`{"prompt": "x", "max_turns": 1}`: {Task: Task{Prompt: "x", MaxTurns: 1}},
		"hold: 0":                         {Hold: "0"},
		"hold: forever":                   {Hold: "forever"},
		"goals: []":                       {},
		"name: 2026-11-21":                {Task: Task{Name: "2026-11-21"}},
		"name: '  x '":                    {Task: Task{Name: "x"}},
		"prompt: &p x\n":                  {Task: Task{Prompt: "x"}}, // an anchor that nothing refers to
		"answers: {fast: yes, sure: true, when: 12:30}": {Answers: []conf.Preset{{Key: "fast",
			Value: "yes", FromFile: true}, {Key: "sure", Value: "true", FromFile: true},
			{Key: "when", Value: "12:30", FromFile: true}}},
	} {
		if got, err := Parse([]byte(text)); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v\n%s", text, err, cmp.Diff(want, got))
		}
	}
}

const thoseThereAre = "`claude-supervise help run` lists the keys that there are"

// Files that cannot be meant, and what is said of them.
var refused = []struct{ about, text, said string }{
	{"an empty file", "", "it is empty"},
	{"only a remark", "# to do\n", "it is empty"},
	{"only a beginning", "---\n", "line 2: a task file holds a map, KEY: VALUE, not nothing"},
	{"a text", "Write a poem", "line 1: a task file holds a map, KEY: VALUE, not text"},
	{"a list", "- prompt: x", "line 1: a task file holds a map, KEY: VALUE, not a list"},
	{"no YAML", "prompt: [x\nname: y", "line 2: it is not YAML: did not find expected ',' or ']'"},
	{"a tab", "goals:\n\t- x", "line 2: it is not YAML: found character that cannot start any token"},
	{"a control character", "prompt: \x07", "it is not YAML: control characters are not allowed"},
	{"no UTF-8", "prompt: \xff\xfe", "it is not UTF-8 text"},
	{"UTF-16", "\xff\xfep\x00:\x00", "it is not UTF-8 text"},
	{"two documents", "prompt: x\n---\nprompt: y\n", "line 2: there is more after its end: a file holds one document"},
	{"rubbish after its end", "prompt: x\n...\n]", "there is more after its end: a file holds one document"},
	{"deep nesting", "prompt: " + strings.Repeat("[", 1<<19), "line 1: it is not YAML: exceeded max depth of 10000"},

	{"a misspelt key", "prompt: x\ngoal: [y]", `line 2: there is no key "goal"; did you mean goals?`},
	{"a key in another style", "successCriteria: [y]",
		`line 1: there is no key "successCriteria"; did you mean success_criteria?`},
	{"a key with a dash", "max-turns: 4", `line 1: there is no key "max-turns"; did you mean max_turns?`},
	{"a part of a key", "criteria: [y]", `line 1: there is no key "criteria"; did you mean success_criteria?`},
	{"a key that is near to none", "command: rm -rf /", `line 1: there is no key "command"` + "\n" + thoseThereAre},
	{"a key without end", strings.Repeat("k", 1000) + ": x",
		`line 1: there is no key "` + strings.Repeat("k", 40) + "…\"\n" + thoseThereAre},
	{"a key that a terminal would obey", `"\e[31mx": y`, `line 1: there is no key "\x1b[31mx"` + "\n" + thoseThereAre},
	{"a key twice", "prompt: x\nprompt: y", `line 2: "prompt" is there twice; the first is in line 1`},
	{"a key that is a list", "? [a, b]\n: x", "line 1: a key is text, not a list"},
	{"a key that is empty", `"": x`, "line 1: a key is text, not text"},

	{"a prompt that is empty", "prompt: ' '", "line 1: prompt is empty"},
	{"a prompt that is nothing", "prompt:", "line 1: prompt takes text, not nothing"},
	{"a prompt that is a list", "prompt: [x]", "line 1: prompt takes text, not a list"},
	{"a prompt that is a number", "prompt: 42", `line 1: prompt takes text; put "42" in quotes`},
	{"a prompt that is bytes", "prompt: !!binary eA==", "line 1: prompt takes text, not what !!binary marks"},
	{"a prompt of another kind", "prompt: !cmd x", "line 1: prompt takes text, not what !cmd marks"},
	{"goals that are a text", "goals: do it", `line 1: goals takes a list, each entry on a line after "- ", not text`},
	{"goals that are nothing", "goals:", `line 1: goals takes a list, each entry on a line after "- ", not nothing`},
	{"a goal that is nothing", "goals:\n- x\n-\n", "line 3: entry 2 of goals takes text, not nothing"},
	{"a goal that is a map", "goals:\n- do: x\n", "line 2: entry 1 of goals takes text, not a map"},
	{"a name of two lines", "name: \"a\\nb\"", "line 1: name takes one line of text"},
	{"a name that a terminal would obey", "name: \"\\e]0;x\\a\"", "line 1: name takes one line of text"},
	{"a model that is a flag", "model: --mcp-config=x",
		`line 1: model takes the name of a model, such as opus, not "--mcp-config=x"`},
	{"turns that are no number", "max_turns: many", `line 1: max_turns takes a whole number from 1, not "many"`},
	{"no turns", "max_turns: 0", `line 1: max_turns takes a whole number from 1, not "0"`},
	{"half turns", "max_turns: 1.5", `line 1: max_turns takes a whole number from 1, not "1.5"`},
	{"endless turns", "max_turns: 99999999999999999999",
		`line 1: max_turns takes a whole number from 1, not "99999999999999999999"`},
	{"turns in quotes", `max_turns: "4"`, `line 1: max_turns takes a whole number from 1, not "4"`},
	{"what is the person's own", "permissions: ask-refused", `line 1: permissions takes ask or deny, not "ask-refused"`},
	{"more than may be permitted", "permissions: allow", `line 1: permissions takes ask or deny, not "allow"`},
	{"a hold that is none", "hold: soon",
		`line 1: hold takes a duration such as 90s, 10m or 2h, 0 or forever, not "soon"`},
	{"a hold without its unit", "hold: 300", `line 1: hold takes text; put "300" in quotes`},
	{"answers that are a list", "answers: [x]", "line 1: answers holds a map, KEY: VALUE, not a list"},
	{"an answer that is a list", "answers:\n  port: [1]", `line 2: the answer to "port" must be text`},
	{"an answer that is nothing", "answers: {port: }", `line 1: the answer to "port" must be text`},
	{"an answer twice", "answers:\n  port: 1\n  port: 2", `line 3: "port" is there twice; the first is in line 2`},
	{"an alias", "prompt: &x y\nname: *x", "line 2: name takes text, not an alias (*x): write it out"},
	{"an alias in a list", "goals: &x [a]\ndeliverables: [*x]",
		"line 2: entry 1 of deliverables takes text, not an alias (*x): write it out"},
	{"a merge", "answers: &x {a: b}\n<<: *x", `line 2: there is no key "<<"` + "\n" + thoseThereAre},
}

func TestAFileThatCannotBeMeantIsRefusedWithItsLineAndWhatIsWanted(t *testing.T) {
	for _, c := range refused {
		_, err := Parse([]byte(c.text))
		invalid := new(yamlfile.Invalid)
		if !errors.As(err, &invalid) || strings.Count(err.Error(), "\n") != strings.Count(c.said, "\n") ||
			!strings.HasPrefix(err.Error(), c.said) {
			t.Errorf("%s: %v\nwant %s", c.about, err, c.said)
		}
	}
}

func TestAllThatIsWrongIsToldAtOnceButNotWithoutEnd(t *testing.T) {
	_, err := Parse([]byte("promt: x\nhold: soon\nmodel: opus\nname: [x]\n"))
	const want = `line 1: there is no key "promt"; did you mean prompt?
line 2: hold takes a duration such as 90s, 10m or 2h, 0 or forever, not "soon"
line 4: name takes text, not a list`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	_, err = Parse([]byte("goals:\n" + strings.Repeat("- 1\n", 5000)))
	if err == nil || strings.Count(err.Error(), "\n") != yamlfile.MaxTold || !strings.HasSuffix(err.Error(), "\nand more") {
		t.Errorf("%v", err)
	}
}

func TestABombOfAliasesIsNeverUnpacked(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("answers: &a0 {k: v}\n")
	for i := range 60 {
		name := string(rune('a' + i%26))
		bomb.WriteString(name + strings.Repeat("x", i) + ": &a" + strings.Repeat("0", i+2) + " [" +
			strings.Repeat("*a"+strings.Repeat("0", i+1)+", ", 20) + "]\n")
	}
	if _, err := Parse([]byte(bomb.String())); err == nil || !strings.Contains(err.Error(), "there is no key") {
		t.Errorf("%v", err)
	}
}

func TestAFileOfAnswersIsAMapOfTexts(t *testing.T) {
	got, err := ParseAnswers([]byte("Which port: 8080\n'name ': ledger\n"))
	want := []conf.Preset{{Key: "Which port", Value: "8080"}, {Key: "name", Value: "ledger"}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for text, said := range map[string]string{
		"":            "it is empty",
		"- x":         "line 1: a file of answers holds a map, KEY: VALUE, not a list",
		"a: {b: c}":   `line 1: the answer to "a" must be text`,
		"a: b\na: c":  `line 2: "a" is there twice; the first is in line 1`,
		"a: \"b\nc: ": "line 2: it is not YAML: ",
	} {
		if _, err := ParseAnswers([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), said) {
			t.Errorf("%q: %v, want %s", text, err, said)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(poolFile))
	for _, c := range slices.Concat(refused, refusedChildren) {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse(text)
		if err != nil {
			if invalid := new(yamlfile.Invalid); !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			return
		}
		text, err = file.Write()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil || !cmp.Equal(file, again) {
			t.Errorf("written and read again: %v\n%s", err, cmp.Diff(file, again))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse([]byte(whole)); err != nil {
			b.Fatal(err)
		}
	}
}
