package procs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// What has ended shows an empty environment, as what was started with one does: it belongs where its parent does.
func TestAProcessWithoutAnEnvironmentBelongsWhereTheOneAboveItDoes(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	own := lookup(os.Environ(), "PATH")
	if env := environOf(process{identity: identity{pid: ended.Process.Pid}, parent: os.Getpid()}); lookup(env, "PATH") != own {
		t.Errorf("one that has ended has the environment %q", env)
	}
	if env := environOf(process{identity: identity{pid: ended.Process.Pid}, parent: ended.Process.Pid}); env != nil {
		t.Errorf("one whose parent has ended, too, has the environment %q", env)
	}

	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("read -r _ # a word of a script\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := exec.Command("/bin/bash", script)
	bare.Env = []string{}
	in, err := bare.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = bare.Wait() }() // it reads no line, and fails
	found, err := Scripts("a word of a script")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(s Script) bool { return s.Getenv("PATH") == own }) {
		t.Errorf("found are %+v", found)
	}
}
