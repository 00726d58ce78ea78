// Package machine sets up what all tests from outside need: the programs under test, and folders and an environment
// with nothing else in it.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"claude-supervise/checkpoints"
)

// Main runs the tests of a package after build, which puts the programs under test into a folder that is removed at the
// end. It returns what to exit with.
func Main(m *testing.M, build func(dir string) error) int {
	// Under nohup SIGHUP is ignored, and what the tests start would inherit that: caught, it is as by default for them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	dir, err := os.MkdirTemp("", "claude-supervise-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Build builds commands of this module into a folder, each under the last part of its path, with flags of go build.
func Build(dir string, flags []string, commands ...string) error {
	args := append(append([]string{"build"}, flags...), "-o", dir+string(filepath.Separator))
	for _, command := range commands {
		args = append(args, "claude-supervise/"+command)
	}
	build := exec.Command("go", args...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("the programs do not build: %w", err)
	}
	return nil
}

// A Machine is a person's: a home, and what programs are told of it.
type Machine struct {
	Home string
	Env  []string
	Dirs checkpoints.Dirs // where the program keeps what lasts
}

// New makes a machine in a folder.
func New(dir string) (Machine, error) {
	folder := func(name string) string { return filepath.Join(dir, name) }
	home, state, runtime, temp := folder("home"), folder("state"), folder("runtime"), folder("tmp")
	for _, dir := range []string{home, state, runtime, temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Machine{}, err
		}
	}
	const program = "claude-supervise"
	return Machine{
		Home: home,
		Env: []string{
			"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp, "XDG_STATE_HOME=" + state,
			"XDG_RUNTIME_DIR=" + runtime,
			"TERM=dumb", "LANG=C.UTF-8",
		},
		Dirs: checkpoints.Dirs{State: filepath.Join(state, program), Runtime: filepath.Join(runtime, program)},
	}, nil
}
