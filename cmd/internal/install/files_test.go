package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aFile is a file of a project for init, which need not be there.
func aFile(t *testing.T, rel string) personsFile {
	t.Helper()
	return personsFile{place: place{base: t.TempDir(), project: true, uid: os.Geteuid()}, rel: rel}
}

func (f personsFile) holds(t *testing.T, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestInitTouchesNothingOfAnotherUser(t *testing.T) {
	f := aFile(t, filepath.Join(".claude", "settings.json"))
	f.holds(t, "{}")
	f.uid++
	if _, err := f.look(); err == nil || !strings.Contains(err.Error(), ".claude belongs to another user") {
		t.Errorf("a folder of another user: %v", err)
	}
	f = aFile(t, "CLAUDE.md")
	f.holds(t, "mine")
	f.uid++
	if _, err := f.look(); err == nil || !strings.Contains(err.Error(), "CLAUDE.md belongs to another user") {
		t.Errorf("a file of another user: %v", err)
	}
}

func TestInitWritesOnlyOverWhatItHasShown(t *testing.T) {
	for name, c := range map[string]struct{ before, meanwhile, next string }{
		"an edit":              {"one", "two", "three"},
		"an edit before undo":  {"one", "two", ""},
		"a file that has come": {"", "two", "three"},
	} {
		t.Run(name, func(t *testing.T) {
			f := aFile(t, "CLAUDE.md")
			if c.before != "" {
				f.holds(t, c.before)
			}
			shown, err := f.look()
			if err != nil {
				t.Fatal(err)
			}
			f.holds(t, c.meanwhile)
			if err := f.write(shown, c.next); !errors.Is(err, errChanged) {
				t.Errorf("it is written over: %v", err)
			}
			if text, err := os.ReadFile(f.path()); err != nil || string(text) != c.meanwhile {
				t.Errorf("it holds %q (%v)", text, err)
			}
		})
	}
}

func TestANewFileIsAsOpenAsItsFolder(t *testing.T) {
	for _, mode := range []os.FileMode{0o700, 0o755, 0o775} {
		f := aFile(t, "CLAUDE.md")
		if err := os.Chmod(f.base, mode); err != nil {
			t.Fatal(err)
		}
		if err := f.write(contents{}, "text"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(f.path()); err != nil || info.Mode().Perm() != mode&0o666 {
			t.Errorf("in a folder of %v: %v (%v)", mode, info.Mode(), err)
		}
	}
}

func TestUndoneAFileTakesTheFoldersWithItThatWereThereForIt(t *testing.T) {
	f := aFile(t, filepath.Join(".claude", "skills", "claude-supervise", "SKILL.md"))
	if err := f.write(contents{}, "text"); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(f.base, ".claude", "mine")
	if err := os.WriteFile(beside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now, err := f.look()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.write(now, ""); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(beside)); err != nil || len(left) != 1 || left[0].Name() != "mine" {
		t.Errorf("%v is left (%v)", left, err)
	}
}
