package task

import (
	"slices"
	"strings"
	"testing"
)

// What is said of tasks as people write them: which parts they lack.
var judged = []struct {
	prompt string
	lacks  string // parts, by their first letters: context, goals, success criteria, what to work on
}{
	// Short ones.
	{"Write a poem", "c s"},
	{"Fix the tests", "c s"},
	{"Write a CHANGELOG for the last release", "c s"},
	{"tests", "c g s"},
	{"Fix it", "c s w"},
	{"fix it please!", "c s w"},
	{"make everything better", "c s w"},
	{"help", "c g s w"},
	{"?!", "c g s w"},

	// Those that say where, or why.
	{"Fix the tests in ./parser", "s"},
	{"Fix parser_test.go", "s"},
	{"Why does `go vet` complain?", "s"},
	{"Rename getUser() to user()", "s"},
	{"Close issue #12", "s"},
	{"Remove the cache because nobody reads it", "s"},
	{"Our login is slow; find out why", "s"},
	{"Add rate limiting to the API, ask me about the limits", "c s"},
	{"Go through the whole of the documentation and list every page that nobody has changed for two years", "s"},

	// Those that say when it is done.
	{"Fix the tests until they pass", "c"},
	{"Speed up the parser by at least 20 %", ""},
	{"Write a poem. Done when: it rhymes", "c"},
	{"Translate the README so that every heading keeps its anchor", "c"},
	{"Cut the image to < 50 MB", ""},
	{"Add a login to ./web. The tests must pass.", ""},
	{"Add a login to the small web service in this folder.\nContext: it has no accounts yet.\nGoal: a file " +
		"auth.txt.\nDone when: auth.txt exists.", ""},

	// Other languages are judged by their length and by what they name.
	{"Schreibe ein Gedicht", "c s"},
	{"修复登录页面", "c s"},
	{"为小型网络服务添加登录功能", "s"},
	{"Corrige los tests de ./api para que terminen en menos de 5 s", "s"},
}

func TestATaskIsJudgedByItsOwnWords(t *testing.T) {
	for _, c := range judged {
		var lacks []string
		for _, g := range CheckTask(c.prompt, Brief{}) {
			lacks = append(lacks, string(g.Part)[:1])
			if g.Part == PartActionability {
				lacks[len(lacks)-1] = "w"
			}
			if g.Advice == "" || len(g.Part)+len(g.Advice) > 76 {
				t.Errorf("%s: the advice %q", g.Part, g.Advice)
			}
		}
		if got := strings.Join(lacks, " "); got != c.lacks {
			t.Errorf("%q lacks %q, want %q", c.prompt, got, c.lacks)
		}
	}
}

func TestWhatTheBriefGivesIsNotMissedInThePrompt(t *testing.T) {
	for part, b := range map[TaskPart]Brief{
		PartContext:         {Context: "none of it works"},
		PartGoals:           {Goals: []string{"it"}},
		PartSuccessCriteria: {SuccessCriteria: []string{"it"}},
		PartActionability:   {Goals: []string{"login"}},
	} {
		has := func(b Brief) bool {
			return !slices.ContainsFunc(CheckTask("help", b), func(g Gap) bool { return g.Part == part })
		}
		if has(Brief{}) || !has(b) {
			t.Errorf("%s: found without it %t, with it %t", part, has(Brief{}), has(b))
		}
	}
	if gaps := CheckTask("help", Brief{Deliverables: []string{"a.txt"}}); slices.ContainsFunc(gaps, func(g Gap) bool {
		return g.Part == PartSuccessCriteria
	}) {
		t.Error("a deliverable is no success criterion")
	}
}

func TestALongTaskIsJudgedByItsBeginningAndItsEnd(t *testing.T) {
	middle := strings.Repeat("word ", 10*maxJudged)
	if gaps := CheckTask("Add a login to ./web. "+middle+" Done when: the tests pass.", Brief{}); len(gaps) != 0 {
		t.Errorf("it lacks %v", gaps)
	}
	hidden := strings.Repeat("word ", maxJudged) + "until" + strings.Repeat(" word", maxJudged)
	if gaps := CheckTask(hidden, Brief{}); len(gaps) != 1 || gaps[0].Part != PartSuccessCriteria {
		t.Errorf("it lacks %v", gaps)
	}
}

func BenchmarkCheckTask(b *testing.B) {
	prompt := strings.Repeat("Add a login to the small web service in this folder. ", 16<<20/53)
	b.SetBytes(int64(len(prompt)))
	for b.Loop() {
		CheckTask(prompt, Brief{})
	}
}

func FuzzCheckTask(f *testing.F) {
	for _, c := range judged {
		f.Add(c.prompt, "")
	}
	f.Add("help", "login")
	f.Fuzz(func(t *testing.T, prompt, goal string) {
		alone := CheckTask(prompt, Brief{})
		for _, g := range CheckTask(prompt, Brief{Goals: []string{goal}}) { // more said is never more missed
			if !slices.Contains(alone, g) {
				t.Errorf("with the goal %q, %q lacks %s", goal, prompt, g.Part)
			}
		}
	})
}
