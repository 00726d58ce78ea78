package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/examples"
)

// programIn lays a program x in a folder that says where it ran.
func (s *site) programIn(dir string) {
	s.put(filepath.Join(dir, "x"), "#!/bin/sh\necho "+dir+" >> "+s.ran()+"\n")
}

// ran is the file in which programIn's programs say where they ran.
func (s *site) ran() string { return filepath.Join(filepath.Dir(s.proof), "ran") }

func (s *site) places() []string {
	ran, err := os.ReadFile(s.ran())
	if err != nil {
		return nil
	}
	return strings.Fields(string(ran))
}

// folderSite is a repository with a program x, another x below, and one in each worktree: what is committed.
func folderSite(s *site) {
	s.git(s.Cwd, "init", "-q")
	s.programIn("sub")
	s.put("x", "#!/bin/sh\necho committed >> "+s.ran()+"\n")
	s.git(s.Cwd, "add", "-A")
	s.git(s.Cwd, "commit", "-qm", "x")
	s.put("x", "#!/bin/sh\necho here >> "+s.ran()+"\n")
}

// elsewhere are the ways by which an agent comes to another folder, each followed by the command of a rule; the folder
// that the person is told of stands behind it.
var elsewhere = []struct {
	calls []examples.ToolCall
	where string
}{
	{[]examples.ToolCall{bashCall("cd sub"), bashCall("./x")}, "sub"},
	{[]examples.ToolCall{{Name: "Monitor", Input: map[string]any{"command": "./x", "description": "x",
		"timeout_ms": 1000}}}, "sub"},
	{[]examples.ToolCall{bashCall("cd .."), {Name: "EnterWorktree", Input: map[string]any{"name": "w"}},
		bashCall("./x")}, ".claude/worktrees/w"},
	{[]examples.ToolCall{{Name: "ExitWorktree", Input: map[string]any{"action": "keep"}},
		{Name: "Task", Input: map[string]any{"description": "part", "prompt": "## PART",
			"subagent_type": "general-purpose", "isolation": "worktree", "run_in_background": false}}},
		".claude/worktrees/agent-"},
}

// A rule that was given for a command in the run's folder runs no file of the same name elsewhere, and the person is
// told where a command would run.
func TestACommandIsAskedAboutInEachFolder(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	var calls []examples.ToolCall
	for _, way := range elsewhere {
		calls = append(calls, way.calls...)
	}
	a := attack{lay: func(s *site) { folderSite(s); s.flags = []string{"--allowedTools=Bash(./x)"} }, calls: calls,
		part: []examples.ToolCall{bashCall("./x")}}
	s := a.bareSite(t, program)
	if got := s.places(); !slices.Contains(got, "sub") || !slices.Contains(got, "committed") {
		t.Errorf("bare claude runs it in %q", got)
	}

	s = newSite(t)
	folderSite(s)
	w := newWorld(t).real(examples.Scenario{Name: "folders", Prompt: "Go.\nDone when: gone.", Turns: []examples.Turn{
		{When: "## PART", Replies: s.filled(a.part)},
		{When: "## YOUR TASK", Replies: s.filled(append([]examples.ToolCall{bashCall("./x"), bashCall("./x")}, calls...))},
	}}, nil)
	w.Cwd = s.Cwd
	run := w.starts("--retries", "0")
	first := run.until("question").Question
	if first.Question != "Allow Bash: ./x?" {
		t.Fatalf("it asks %q", first.Question)
	}
	w.must("answer", first.ID, "allow-run")
	run.waitsFor("allowed by the rule Bash(./x), nobody is asked")
	for _, way := range elsewhere {
		q := run.until("question").Question
		if !strings.Contains(q.Question, " in "+way.where) {
			t.Errorf("in %s it asks %q", way.where, q.Question)
		}
		lacksNone(t, "the question", w.must("questions", "--json"), "folder: "+filepath.Join(s.Cwd, way.where),
			"It does not run in the run's folder, "+s.Cwd)
		w.must("answer", q.ID, "deny")
	}
	w.ends(run, 6)
	if got := s.places(); !slices.Equal(got, []string{"here", "here"}) {
		t.Errorf("it ran in %q", got)
	}
}

// A rule that was given in another folder holds there, and the list of rules says so.
func TestARuleGivenElsewhereHoldsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	folderSite(s)
	w := newWorld(t).real(examples.Scenario{Name: "folders", Prompt: "Go.\nDone when: gone.", Turns: []examples.Turn{
		{When: "## YOUR TASK", Replies: s.filled([]examples.ToolCall{bashCall("cd sub"), bashCall("./x"), bashCall("./x"),
			bashCall("cd .."), bashCall("./x")})},
	}}, nil)
	w.Cwd = s.Cwd
	run := w.starts("--retries", "0")
	first := run.until("question").Question
	lacksNone(t, "the question", w.must("questions"), "always in this run, in that folder: Bash(./x)")
	w.must("answer", first.ID, "allow-run")
	run.waitsFor("allowed by the rule Bash(./x), nobody is asked")
	second := run.until("question").Question
	if second.Question != "Allow Bash: ./x?" {
		t.Errorf("it asks %q", second.Question)
	}
	lacksNone(t, "the list of rules", w.must("permissions", second.Run), "in "+filepath.Join(s.Cwd, "sub")+", answer to")
	w.must("answer", second.ID, "deny")
	w.ends(run, 6)
	if got := s.places(); !slices.Equal(got, []string{"sub", "sub"}) {
		t.Errorf("it ran in %q", got)
	}
}

// White space that Claude Code takes away before it looks at its rules is a part of the name of what a shell runs.
func TestNoRuleCoversACommandWithWhiteSpaceOfItsOwn(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	lay := func(s *site) (calls []examples.ToolCall) {
		for _, r := range []rune{0xa0, 0x1680, 0x2003, 0x2028, 0x202f, 0x3000, 0xfeff} {
			s.put("x"+string(r), fmt.Sprintf("#!/bin/sh\necho %U >> %s\n", r, s.ran()))
			calls = append(calls, bashCall("./x"+string(r)))
		}
		s.put("x", "#!/bin/sh\n")
		return calls
	}
	for name, flags := range playedAttacks(t, map[string][]string{"allow": {"--allow", "Bash(./x)"}, "settings": nil}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at *site
			a := attack{}
			a.calls = lay(newSite(t))
			a.lay = func(s *site) {
				at = s
				lay(s)
				if name == "settings" {
					s.personAllows("Bash(./x)")
				}
			}
			if name == "allow" {
				bare := a
				bare.lay = func(s *site) { a.lay(s); s.flags = []string{"--allowedTools=Bash(./x)"} }
				bare.bare(t, program)
			} else {
				a.bare(t, program)
			}
			if got := at.places(); len(got) != len(a.calls) {
				t.Errorf("bare claude runs %q", got)
			}
			a.supervised(t, program, flags...)
			if got := at.places(); got != nil {
				t.Errorf("a run runs %q", got)
			}
		})
	}
}
