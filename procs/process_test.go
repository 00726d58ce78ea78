package procs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAProgramThatCannotRunIsAStartError(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		noError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for _, c := range []struct {
		name, path, dir string
		want            error
	}{
		{"missing", filepath.Join(dir, "missing"), "", ErrNotFound},
		{"a folder", dir, "", ErrNotExecutable},
		{"no mode bit", file("plain", "#!/bin/sh\n", 0o600), "", ErrNotExecutable},
		{"no interpreter", file("script", "#!/no/such/interpreter\n", 0o700), "", ErrNotExecutable},
		{"no program", file("noise", "\x00\x01\x02", 0o700), "", ErrNotExecutable},
		{"no folder to run in", "/bin/sh", filepath.Join(dir, "gone"), errNoDir},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(teller{}, Spec{Path: c.path, Dir: c.dir}, func(m Message) { t.Errorf("it said %+v", m) })
			if start := new(StartError); !errors.As(err, &start) || !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
