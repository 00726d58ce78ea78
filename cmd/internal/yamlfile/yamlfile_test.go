package yamlfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReadToItsEndUnlessItIsTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "task.yaml")
	for _, c := range []struct {
		size int
		fits bool
	}{{0, true}, {MaxFile, true}, {MaxFile + 1, false}} {
		if err := os.WriteFile(path, make([]byte, c.size), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := ReadFile(path)
		if c.fits != (err == nil) || c.fits && len(text) != c.size {
			t.Errorf("of %d bytes %d were read: %v", c.size, len(text), err)
		}
		if invalid := new(Invalid); !c.fits && !errors.As(err, &invalid) {
			t.Errorf("too large a file is the error %v", err)
		}
	}
	if _, err := ReadFile(filepath.Join(path, "none")); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := ReadFile(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}
