package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claude-supervise/signals"
)

const skillFile = ".claude/skills/claude-supervise/SKILL.md"

// agentID is the id of an agent that reads the skill.
const agentID = "a-7Qm2xK9fWb4T"

// initialised is a world whose folder init has been in, and the skill that it has put there.
func initialised(t *testing.T) (w *world, skill string) {
	t.Helper()
	w = newWorld(t)
	w.must("init")
	return w, w.holds(skillFile)
}

// holds returns what a file of the run's folder holds.
func (w *world) holds(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Cwd, name))
	noError(w.t, err)
	return string(text)
}

var fenced = regexp.MustCompile("(?ms)^```[a-z]*\n.*?^```\n")

func TestEveryExampleOfTheSkillIsASignalOnceItsIDIsFilledIn(t *testing.T) {
	t.Parallel()
	_, skill := initialised(t)
	kinds := map[signals.Kind]bool{}
	for _, example := range fenced.FindAllString(skill, -1) {
		for _, s := range signals.Scan(example, agentID) {
			if s.AgentID != "" && !s.Foreign {
				t.Errorf("with its placeholder it counts already:\n%s", example)
			}
		}
		found := signals.Scan(strings.ReplaceAll(example, "<agent-id>", agentID), agentID)
		if len(found) != 1 || found[0].Foreign || len(found[0].Problems) > 0 {
			t.Errorf("the scanner finds %+v in\n%s", found, example)
			continue
		}
		kinds[found[0].Kind] = true
	}
	for _, kind := range []signals.Kind{signals.Clarification, signals.Stop, signals.Completion} {
		if !kinds[kind] {
			t.Errorf("the skill has no example of %s", kind)
		}
	}
}

func TestTheTextsOfInitAreNoSignalWhenAnAgentPrintsThem(t *testing.T) {
	t.Parallel()
	w, skill := initialised(t)
	_, unsupervised, found := strings.Cut(skill, "## Without a supervisor\n")
	if !found {
		t.Fatal("the skill does not say what to do without a supervisor")
	}
	for name, text := range map[string]string{
		"SKILL.md": skill, "CLAUDE.md": w.holds("CLAUDE.md"), "a part": unsupervised,
		"quoted": "Here is the skill:\n\n````markdown\n" + skill + "````\n",
	} {
		for _, s := range signals.Scan(text, agentID) {
			if !s.Foreign {
				t.Errorf("%s: it counts as %s, line %d", name, s.Kind, s.Line)
			}
		}
	}
}

func TestInitShowsWhatItWouldChangeAndTakesNoForNo(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	mine := "# Mine\n\nA line of prose that is rather longer than a terminal of eighty columns is wide, as people write " +
		"them.\n"
	noError(t, os.WriteFile(filepath.Join(w.Cwd, "CLAUDE.md"), []byte(mine), 0o640))
	s := w.sit(nil, "init")
	s.sees(`init is about to:\s+create \.claude/skills/claude-supervise/SKILL\.md\s+` +
		`create \.claude/commands/supervise\.md\s+change CLAUDE\.md\s+link ~/\.local/bin/claude-answer\s`)
	s.sees(`\+<!-- claude-supervise:begin -->`)
	s.sees(`Change CLAUDE\.md\? \[y/N\] $`)
	s.types("\r")
	s.sees(`Link ~/\.local/bin/claude-answer to this program\? \[y/N\] $`)
	s.types("no\r")
	s.sees("created .claude/skills/claude-supervise/SKILL.md")
	s.sees("CLAUDE.md stays as it is")
	s.sees("claude-answer stays as it is")
	s.exits(0)
	w.written("CLAUDE.md", mine)
	if _, err := os.Lstat(filepath.Join(w.Home, ".local/bin/claude-answer")); err == nil {
		t.Error("it is linked all the same")
	}

	s = w.sit(nil, "init")
	s.sees(`Change CLAUDE\.md\? \[y/N\] $`)
	s.types("y\r")
	s.sees(`\[y/N\] $`)
	s.types("yes\r")
	s.sees("changed CLAUDE.md")
	s.sees("linked ~/.local/bin/claude-answer")
	s.exits(0)
	if text := w.holds("CLAUDE.md"); !strings.HasPrefix(text, mine+"\n<!-- claude-supervise:begin -->\n") {
		t.Errorf("CLAUDE.md holds %q", text)
	}
	if info, err := os.Stat(filepath.Join(w.Cwd, "CLAUDE.md")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode became %v (%v)", info.Mode(), err)
	}
}

func TestInitUndoesAnEditedTextOnlyWhenTold(t *testing.T) {
	t.Parallel()
	w, skill := initialised(t)
	edited := strings.Replace(skill, "Never guess", "Always guess", 1)
	noError(t, os.WriteFile(filepath.Join(w.Cwd, skillFile), []byte(edited), 0o600))
	s := w.sit(nil, "init", "--undo")
	s.sees(`edits\s+would\s+be\s+lost:`)
	s.sees("-In the background nobody reads what you write as you write it. Always guess")
	s.sees(`SKILL\.md\? \[y/N\] $`)
	s.types("n\r")
	s.sees("SKILL.md stays as it is")
	s.sees("removed CLAUDE.md")
	s.exits(0)
	w.written(skillFile, edited)
	s = w.sit(nil, "init", "--undo")
	s.sees(`SKILL\.md\? \[y/N\] $`)
	s.types("y\r")
	s.sees("removed .claude/skills/claude-supervise/SKILL.md")
	s.exits(0)
	if left, err := os.ReadDir(w.Cwd); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// asksByFile puts a question where the hybrid document's scripts put theirs.
func (w *world) asksByFile(id, question string) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".claude", "questions", "pending")
	noError(w.t, os.MkdirAll(dir, 0o700))
	noError(w.t, os.WriteFile(filepath.Join(dir, id+".json"), []byte(question), 0o600))
}

// sitAsAnswer is sit for the program under its other name.
func (w *world) sitAsAnswer(args ...string) *screen {
	w.t.Helper()
	link := filepath.Join(w.t.TempDir(), "claude-answer")
	noError(w.t, os.Symlink(w.Program, link))
	as, machine := *w, *w.Machine
	as.Machine = &machine
	as.Program = link
	return as.sit(nil, args...)
}

func TestClaudeAnswerAsksWhatIsOpenOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	w.asksByFile("workflow_1729350000_q1",
		`{"question": "Which auth method: OAuth or JWT?", "options": ["oauth", "jwt"], "validate": "choice"}`)
	s := w.sitAsAnswer()
	s.sees("workflow_1729350000_q1> $")
	s.types("3\r")
	s.sees(`"3" is not one of the options`)
	s.types(">\r")
	s.asked("Which way of login")
	s.types("2\r")
	s.sees(`\[` + question + `\] answered: Sessions`)
	s.sees("workflow_1729350000_q1> $")
	s.types("oauth\r")
	s.sees(`\[workflow_1729350000_q1\] answered: oauth`)
	s.sees("The answer is kept; the script that asks will take it")
	s.sees("Nobody supervises " + run + `. Resume it in the background\? \[y/N\] $`)
	s.types("y\r")
	s.sees("continues in the background")
	s.exits(0)
	answer, err := os.ReadFile(filepath.Join(w.Home, ".claude/answers/workflow_1729350000_q1.txt"))
	if err != nil || string(answer) != "oauth\n" {
		t.Errorf("the answer file holds %q (%v)", answer, err)
	}
	w.must("wait", run)
	w.written("auth.txt", "login by Sessions\n")
}

func TestClaudeAnswerLeftWithCtrlDAnswersNothing(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.park()
	s := w.sitAsAnswer()
	s.asked("Which way of login")
	s.types("\x04")
	s.sees("nothing was answered; all questions stay open")
	s.exits(1)
	if open := w.questions(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
}

// A script may ask anything, and a file's name is its own choice too.
func TestNothingThatAScriptAsksReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.asksByFile("--resume",
		`{"question": "Which \u001b]52;c;ZXZpbA==\u0007colour \u202eis it?", "options": ["\u001b[31mred", "blue"], `+
			`"context": "\u001b[2J"}`)
	w.asksByFile("\x1b[31mred", `{}`)
	s := w.sitAsAnswer()
	s.sees("Which colour is it")
	s.sees("--resume> $")
	s.types("2\r")
	s.sees(`\[--resume\] answered: blue`)
	s.exits(0) // and looks at all that was shown
}
