package procs

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What has ended shows an empty environment, as what was started with one does: it belongs where its parent does.
func TestAProcessWithoutAnEnvironmentBelongsWhereTheOneAboveItDoes(t *testing.T) {
	ended := exec.Command("true")
	noError(t, ended.Run())
	own := Lookup(os.Environ(), "PATH")
	if env := environOf(process{identity: identity{pid: ended.Process.Pid}, parent: os.Getpid()}); Lookup(env, "PATH") != own {
		t.Errorf("one that has ended has the environment %q", env)
	}
	if env := environOf(process{identity: identity{pid: ended.Process.Pid}, parent: ended.Process.Pid}); env != nil {
		t.Errorf("one whose parent has ended, too, has the environment %q", env)
	}

	script := filepath.Join(t.TempDir(), "script")
	noError(t, os.WriteFile(script, []byte("read -r _ # a word of a script\n"), 0o600))
	bare := exec.Command("/bin/bash", script)
	bare.Env = []string{}
	in, err := bare.StdinPipe()
	noError(t, err)
	noError(t, bare.Start())
	defer func() { _ = in.Close(); _ = bare.Wait() }() // it reads no line, and fails
	found, err := Scripts("a word of a script")
	noError(t, err)
	if !slices.ContainsFunc(found, func(s Script) bool { return s.Getenv("PATH") == own }) {
		t.Errorf("found are %+v", found)
	}
}

// A script that a shell reads into itself is in no process's arguments.
func TestAScriptThatIsOnlySourcedIsFound(t *testing.T) {
	const waits = "echo\nread -r _ # waits for its answer\n"
	for name, c := range map[string]struct {
		args    []string
		further string // of which main.sh consists
	}{
		"by a dot":                      {args: []string{"-c", ". ./ask.sh"}},
		"by its name":                   {args: []string{"-c", "true && source ask.sh; true"}},
		"after a change of folders":     {args: []string{"-c", "cd lib && . ./deep.sh"}},
		"in what is evaluated":          {args: []string{"-c", `eval '. ./ask.sh' && pwd`}},
		"below the home":                {args: []string{"-c", `. ~/ask.sh`}},
		"by a script beside it":         {args: []string{"main.sh"}, further: `. "$(dirname "$0")/ask.sh"`},
		"by a script, through a folder": {args: []string{"main.sh"}, further: `HERE=$(pwd); source "${HERE}/lib/deep.sh"`},
		"by a script that is sourced":   {args: []string{"-c", ". ./main.sh"}, further: `. ask.sh`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && strings.Contains(name, "folder") {
				t.Skip("this system does not tell in which folder a process is") // in CI, too
			}
			folder := t.TempDir()
			word := "the word of " + folder
			for file, text := range map[string]string{"ask.sh": waits + "# " + word, "main.sh": c.further + "\ntrue\n",
				"lib/deep.sh": waits + "# " + word} {
				path := filepath.Join(folder, file)
				noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				noError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			shell := exec.Command("/bin/bash", c.args...)
			shell.Dir, shell.Env = folder, []string{"HOME=" + folder, "PATH=/usr/bin:/bin"}
			in, err := shell.StdinPipe()
			noError(t, err)
			out, err := shell.StdoutPipe()
			noError(t, err)
			noError(t, shell.Start())
			defer func() { _ = in.Close(); _ = shell.Wait() }() // it reads no line, and fails
			if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
				t.Fatalf("it does not ask: %v", err)
			}
			found, err := Scripts(word)
			noError(t, err)
			if !slices.ContainsFunc(found, func(s Script) bool { return s.Getenv("HOME") == folder }) {
				t.Errorf("found are %+v", found)
			}
		})
	}
}

func TestWhatAShellTextSourcesIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"./run.sh; sources x":             nil,
		"echo done. See the README":       nil,
		"set -e\n. ./a.sh\n\tsource b.sh": {"./a.sh", "b.sh"},
		"if true; then . '/opt/my scripts/a.sh' x; fi":   {"/opt/my scripts/a.sh"},
		`source ~/bin/a.sh`:                              {"bin/a.sh"},
		`. "$HOME/bin/a.sh"`:                             {"bin/a.sh"},
		`. "${DIR:-/tmp}/a.sh"; b`:                       {"a.sh"},
		`. "$(cd "$(dirname "$0")" && pwd)/lib/a.sh" >x`: {"lib/a.sh"},
		". `dirname $0`/a.sh":                            {"a.sh"},
		`. "$SCRIPT"`:                                    {""},
		`eval '. ./a.sh' && pwd`:                         {"./a.sh"},
		`. my\ script.sh`:                                {"my script.sh"},
		". $(((((":                                       {"$((((("},
	} {
		if got := sourced(text); !cmp.Equal(got, want) {
			t.Errorf("%q sources %q, not %q", text, got, want)
		}
	}
}
