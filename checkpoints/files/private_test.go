package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTheFolderOfWorkflowsIsForThisUserAlone(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"it is not there":        func(string) error { return nil },
		"a script has made it":   func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o775)) },
		"it is private already":  func(path string) error { return os.Mkdir(path, 0o700) },
		"it is less than ours":   func(path string) error { return os.Mkdir(path, 0o500) },
		"and cannot be set back": func(path string) error { return errors.Join(MakePrivate(path), MakePrivate(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "workflows")
			if err := errors.Join(prepare(path), MakePrivate(path)); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("it is %v (%v)", info.Mode(), err)
			}
		})
	}
}

// Whoever may write to /tmp can put a link there: what it leads to keeps its rights.
func TestALinkInThePlaceOfTheFolderOfWorkflowsIsNotFollowed(t *testing.T) {
	folder := t.TempDir()
	path, target := filepath.Join(folder, "workflows"), filepath.Join(folder, "target")
	if err := errors.Join(os.Mkdir(target, 0o755), os.Chmod(target, 0o755), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(path); !errors.Is(err, ErrUnsafeDir) {
		t.Errorf("it says %v", err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the target is %v (%v)", info.Mode(), err)
	}
}
