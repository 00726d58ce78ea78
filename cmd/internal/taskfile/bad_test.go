package taskfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/cmd/internal/yamlfile"
)

// What is named as a task file or a file of answers and is none is an error that says so, and holds nobody.
func TestWhatIsNoTaskFileIsAnErrorAndHoldsNobody(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		unix.Mkfifo(at("fifo"), 0o600), os.Symlink("loop", at("loop")), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("large"), []byte("prompt: "+strings.Repeat("x", 10<<20)), 0o600),
		os.WriteFile(at("latin"), []byte("prompt: caf\xe9\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		at("fifo"): "it is empty", at("loop"): "too many", at("folder"): "is a directory", at("gone"): "no such file",
		at("large"): "larger than 1 MiB", at("latin"): "not UTF-8", "/dev/zero": "larger than 1 MiB",
	} {
		for name, parse := range map[string]func([]byte) error{
			"task":    func(text []byte) error { _, err := Parse(text); return err },
			"answers": func(text []byte) error { _, err := ParseAnswers(text); return err },
		} {
			text, err := yamlfile.ReadFile(path)
			if err == nil {
				err = parse(text)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s as %s: %v, want %q", path, name, err, want)
			}
		}
	}
}
