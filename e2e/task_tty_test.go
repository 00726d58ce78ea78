package e2e

import (
	"slices"
	"strings"
	"testing"
)

// What is typed goes into the task. What is left out is named again, and the task starts only after a yes.
func TestUnderCheckAskWhatATaskLacksIsCollected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed []string // context, success criteria, deliverables; then whether to start
		lacks string   // what is asked about at last
		code  int
		task  []string
	}{
		"all of it": {typed: []string{"for a birthday", "it rhymes; it is short", "poem.txt, notes.md"}, code: 0,
			task: []string{"## CONTEXT", "for a birthday", "## SUCCESS CRITERIA", "- it rhymes", "- it is short", "- poem.txt",
				"- notes.md"}},
		"one of it, and a yes":   {typed: []string{"", "it rhymes", "", "y"}, lacks: "context", task: []string{"- it rhymes"}},
		"nothing of it, and no":  {typed: []string{"", "", "", "n"}, lacks: "success criteria", code: 2},
		"nothing of it, and ...": {typed: []string{"", "", "", "yeah, why not"}, lacks: "context", code: 2},
		"the end of input":       {typed: []string{"for a birthday", "\x04"}, code: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--check", "ask", "Write a poem")
			for i, typed := range c.typed {
				prompt := []string{`context: .*\n> $`, `success criteria: .*\n> $`, `deliverables: .*\n> $`,
					`Start it anyway\? \[y/N\] $`}[i]
				if shown := s.sees("(?s)" + prompt); i == 3 && !strings.Contains(shown, "  "+c.lacks+": ") {
					t.Errorf("%q is not asked about:\n%s", c.lacks, shown)
				}
				s.types(strings.TrimSuffix(typed+"\r", map[bool]string{true: "\r"}[typed == "\x04"]))
			}
			code := s.ends()
			if code != c.code && (c.task == nil || code != 3) { // the demo makes no poem
				t.Fatalf("exit %d, want %d\n%s", code, c.code, s.seen)
			}
			runs := parse[[]runView](t, w.must("ps", "-a", "--json"))
			if c.task == nil {
				if len(runs) > 0 || !strings.Contains(string(s.seen), "nothing was started") {
					t.Errorf("%d runs were made\n%s", len(runs), s.seen)
				}
				return
			}
			lacksNone(t, "the task", w.must("show", runs[0].ID), c.task...)
		})
	}
}

func TestOnATerminalAPersonIsRemindedOfAThinTaskOnce(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	reminded := func(flags ...string) bool {
		t.Helper()
		s := w.sit(nil, append([]string{"run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT"}, flags...)...)
		s.ends()
		return strings.Contains(string(s.seen), "The task gives no context or success criteria (--check off hides this).")
	}
	for _, flags := range [][]string{{"--check", "off"}, {"--quiet"}} {
		if reminded(append(flags, "Write a poem")...) {
			t.Errorf("%v does not keep the hint away", flags)
		}
	}
	if !reminded("Write a poem") {
		t.Error("there is no hint")
	}
	if reminded("Write a song") {
		t.Error("the hint comes a second time")
	}
}

func TestACompleteTaskIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--demo", "ask", "--answer", "login=JWT",
		"--check", "ask", "Fix the tests in ./parser until they pass")
	if code := s.ends(); code != 0 || strings.Contains(string(s.seen), "[y/N]") {
		t.Errorf("exit %d\n%s", code, s.seen)
	}
}

func TestARunInTheBackgroundIsAskedAboutBeforeItGoesThere(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--check", "ask", "--detach", "Write a poem")
	for _, typed := range []string{"for a birthday", "it rhymes", ""} {
		s.sees(`(?s): .*\n> $`)
		s.types(typed + "\r")
	}
	s.exits(0)
	run := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].ID
	w.must("wait", run)
	w.written("auth.txt", "login by JWT\n")
	lacksNone(t, "the task", w.must("show", run), "for a birthday", "- it rhymes")
}

func TestOnATerminalTheFirstLinesSayHowToFollowAnswerAndStopTheRun(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT")
	s.exits(0)
	run := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].ID
	first := strings.Join(rows(string(s.seen))[:4], "\n")
	for _, told := range []string{"run " + run, "claude-supervise attach " + run, "answer, stop, ps"} {
		if !strings.Contains(first, told) {
			t.Errorf("%q is not in the first lines:\n%s", told, first)
		}
	}
	quiet := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--quiet")
	if code := quiet.ends(); code != 0 || strings.Contains(string(quiet.seen), "stop r-") {
		t.Errorf("under --quiet: exit %d\n%s", code, quiet.seen)
	}
}

func TestUnderCheckAskWhatTheTasksOfChildrenLackIsCollected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file  string
		asked []string // whose task, in this order
		flags []string
	}{
		"children": {file: "children:\n  - {name: rhyme, prompt: Write a poem}\n  - {name: metre, prompt: Write a hymn}\n",
			asked: []string{"rhyme", "metre"}},
		"a pool": {file: "each: {lines: items}\nchild:\n  prompt: Write a poem on {item}\n", asked: []string{"child"}},
		"a pool in the background": {file: "each: {lines: items}\nchild:\n  prompt: Write a poem on {item}\n",
			asked: []string{"child"}, flags: []string{"--detach"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			w.writes("task.yaml", c.file)
			w.writes("items", "love\nwar\n")
			s := w.sit(nil, slices.Concat([]string{"run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--check", "ask",
				"--on-question", "fail", "-f", "task.yaml"}, c.flags)...)
			for _, of := range c.asked {
				s.sees("(?s)The task of " + of + " lacks something.*\\n> $")
				s.types("for a birthday\r")
				s.sees(`(?s)success criteria: .*\n> $`)
				s.types("it rhymes\r")
				s.sees(`(?s)deliverables: .*\n> $`)
				s.types("poem.txt\r")
			}
			s.ends()
			r := w.theRun()
			if len(c.flags) > 0 {
				w.run("wait", r.ID)
				r = w.theRun()
			}
			for _, a := range r.Agents[1:] {
				lacksNone(t, "the task of "+a.ID, w.must("show", a.ID), "for a birthday", "- it rhymes", "- poem.txt")
			}
			if len(r.Agents) != 3 {
				t.Errorf("there are %d agents\n%s", len(r.Agents), s.seen)
			}
		})
	}
}
