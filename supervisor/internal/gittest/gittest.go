package gittest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// Put writes a file, and the folders above it.
func Put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// WantFile wants a file with this text.
func WantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, want)
	}
}

// InRepository makes a repository of a folder.
func InRepository(t testing.TB, folder string) {
	t.Helper()
	GitIn(t, folder, "init", "--quiet", "--template=", "--initial-branch=topic")
}

// GitIn runs git in a folder.
func GitIn(t testing.TB, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@localhost"},
		args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Committed makes a repository with a commit of its files.
func Committed(t testing.TB, folder, subject string) string {
	t.Helper()
	GitIn(t, folder, "add", "--all")
	GitIn(t, folder, "commit", "--quiet", "--no-verify", "-m", subject)
	return GitIn(t, folder, "rev-parse", "--short", "HEAD")
}

// NamesPrograms makes a repository that names a program wherever git takes one. What of it is run leaves a line in a
// file.
func NamesPrograms(t *testing.T, folder string) (ran string) {
	t.Helper()
	ran = filepath.Join(t.TempDir(), "ran")
	InRepository(t, folder)
	Put(t, filepath.Join(folder, "a.txt"), "one\n")
	Committed(t, folder, "begin")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{
		"core.hooksPath": filepath.Dir(program), "log.showSignature": "true", "status.submoduleSummary": "true",
		"filter.x.required":   "true",
		"core.untrackedCache": "true", "core.splitIndex": "true",
	}
	for _, setting := range []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand",
		"diff.external", "diff.x.command",
		"diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program",
		"interactive.diffFilter", "pager.status",
		"pager.diff", "pager.log", "credential.helper", "alias.status", "alias.log", "trailer.x.command", "log.mailmap",
	} {
		settings[setting] = program
	}
	file := filepath.Join(folder, ".git", "config")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for setting, value := range settings { // a command for each would take longer than the tests do
		dot := strings.LastIndexByte(setting, '.')
		section := strings.Replace(setting[:dot], ".x", ` "x"`, 1)
		config = fmt.Appendf(config, "[%s]\n\t%s = %s\n", section, setting[dot+1:], value)
	}
	Put(t, file, string(config))
	Put(t, filepath.Join(folder, ".gitattributes"), "* filter=x diff=x\n")
	Put(t, filepath.Join(folder, ".git", "info", "attributes"), "* filter=x diff=x\n")
	return ran
}

// project is what Project copies: that is less work than three commands of git.
var project = struct {
	sync.Once
	files fstest.MapFS
}{files: fstest.MapFS{}}

// Project is a repository with one commit in a folder of its own, so that there is a place beside it.
func Project(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(base, "it's a project")
	project.Do(func() { makeProject(t) })
	if err := os.CopyFS(folder, project.files); err != nil {
		t.Fatal(err)
	}
	GitIn(t, folder, "update-index", "--refresh")
	return folder
}

func makeProject(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	Put(t, filepath.Join(folder, "sub", "a.txt"), "one\n")
	Put(t, filepath.Join(folder, ".gitignore"), "*.ignored\n")
	InRepository(t, folder)
	Committed(t, folder, "begin")
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			file.Data, err = os.ReadFile(filepath.Join(folder, path))
		}
		project.files[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
