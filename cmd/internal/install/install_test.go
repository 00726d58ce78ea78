package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/exit"
)

// inProject is a project of a person at home, with nothing in either.
func inProject(t *testing.T) (home string) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	return home
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestInitPutsItsTextsIntoAProjectAndTakesThemOutAgain(t *testing.T) {
	inProject(t)
	if err := os.WriteFile("CLAUDE.md", []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Install(Flags{Yes: true, Hook: true}); err != nil {
		t.Fatal(err)
	}
	for path, holds := range map[string]string{
		".claude/skills/claude-supervise/SKILL.md": "claude-supervise", ".claude/commands/supervise.md": "$ARGUMENTS",
		"CLAUDE.md": "mine\n", ".claude/settings.json": "lint --hook",
	} {
		if text := read(t, path); !strings.Contains(text, holds) {
			t.Errorf("%s holds\n%s", path, text)
		}
	}
	if err := Install(Flags{Yes: true, Undo: true}); err != nil {
		t.Fatal(err)
	}
	if text := read(t, "CLAUDE.md"); text != "mine\n" {
		t.Errorf("it leaves %q", text)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
}

// Without a terminal nothing that is there is changed unasked, and nothing else is done beside it.
func TestInitChangesNothingThatItWouldHaveToAskAbout(t *testing.T) {
	inProject(t)
	if err := os.WriteFile("CLAUDE.md", []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Install(Flags{})
	if err == nil || !strings.Contains(err.Error(), "CLAUDE.md\nNothing was changed.") ||
		!strings.HasSuffix(err.Error(), "claude-supervise init --yes") {
		t.Errorf("it says %v", err)
	}
	if err := Install(Flags{Dry: true}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
}

// What is in the way of one file keeps all from being touched.
func TestInitDoesNothingWhereASymlinkIsInTheWay(t *testing.T) {
	home := inProject(t)
	if err := os.Symlink(home, ".claude"); err != nil {
		t.Fatal(err)
	}
	err := Install(Flags{Yes: true})
	if err == nil || !strings.Contains(err.Error(), ".claude is a symlink, which init does not follow") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat("CLAUDE.md"); !os.IsNotExist(err) {
		t.Errorf("CLAUDE.md: %v", err)
	}
}

func TestTheHomeOfAPersonIsNoProject(t *testing.T) {
	t.Chdir(inProject(t))
	if err := Install(Flags{}); exitcode.Of(err) != exit.Usage || !strings.Contains(err.Error(), "init --user") {
		t.Errorf("it says %v", err)
	}
}

func TestTheCommandThatIsNamedHasTheFlagsOfThisOne(t *testing.T) {
	for want, f := range map[string]Flags{
		"claude-supervise init --undo":              {Hook: true},
		"claude-supervise init --user --undo":       {User: true},
		"claude-supervise init --user --hook --yes": {User: true, Hook: true},
		"claude-supervise init --user --undo --yes": {User: true, Undo: true},
	} {
		more := want[strings.LastIndex(want, " ")+1:]
		if got := initCommand(f, more); got != want {
			t.Errorf("it names %q, want %q", got, want)
		}
	}
}

func TestALinkIsPutInPlaceOfOneOfOursAlone(t *testing.T) {
	path := filepath.Join(inProject(t), ".local", "bin", AnswerName)
	if target, standing := linked(path); target != "" || standing != linkMissing {
		t.Errorf("nothing is %q (%d)", target, standing)
	}
	for _, program := range []string{"/old/claude-supervise", "/new/claude-supervise"} {
		if err := link(program, path); err != nil {
			t.Fatal(err)
		}
		if target, standing := linked(path); target != program || standing != linkOurs {
			t.Errorf("it is %q (%d)", target, standing)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := link("/new/claude-supervise", path); err == nil || answerLink(true).said != "is not init's and stays" {
		t.Errorf("a file of the person: %v", err)
	}
}
