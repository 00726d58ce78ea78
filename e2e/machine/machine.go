// Package machine is the world of all tests from outside: the programs under test, a home with an environment that has
// nothing else in it, the agent, runs under way and what they print, and the processes that are left.
package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// built is set, to the folder of the programs under test, where a test runs its own program once more (smalldisk).
const built = "CLAUDE_SUPERVISE_TEST_BUILT"

// Main runs the tests of a package after build, which puts the programs under test into a folder that is removed at the
// end. It returns what to exit with.
func Main(m *testing.M, build func(dir string) error) int {
	// Under nohup SIGHUP is ignored, and what the tests start would inherit that: caught, it is as by default for them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	dir := os.Getenv(built)
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "claude-supervise-test"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if err := errors.Join(build(dir), os.Setenv(built, dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Build builds commands of this module into a folder, each under the last part of its path, with flags of go build.
// What Main has built already stays.
func Build(dir string, flags []string, commands ...string) error {
	if os.Getenv(built) != "" {
		return nil
	}
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

// A Machine is a person's: a home, a folder to work in, and what programs are told of it.
type Machine struct {
	Program   string // claude-supervise
	Home, Cwd string
	Env       []string
	Dirs      checkpoints.Dirs // where the program keeps what lasts
	API       *messagesapi.API // set where the agent is the real CLI
}

// New makes a machine in a folder.
func New(program, dir string) (*Machine, error) {
	folder := func(name string) string { return filepath.Join(dir, name) }
	m := in(program, folder("home"), folder("work"), folder("tmp"), folder("runtime"))
	for _, name := range []string{"home", "work", "tmp", "runtime"} {
		if err := os.MkdirAll(folder(name), 0o700); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// For makes a machine for a test. When that is over what still lives there is killed: supervisors in the background
// would wait for ever.
func For(t *testing.T, program string) *Machine {
	t.Helper()
	m := in(program, t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir())
	t.Cleanup(func() { EndAll(m.Home) })
	SpeakIfOverdue(t, m.Home, func() []int { return With(InHome(m.Home)) })
	return m
}

func in(program, home, cwd, temp, runtime string) *Machine {
	const name = "claude-supervise"
	return &Machine{
		Program: program, Home: home, Cwd: cwd,
		Dirs: checkpoints.Dirs{State: filepath.Join(home, ".local/state", name), Runtime: filepath.Join(runtime, name)},
		Env: []string{
			"HOME=" + home, "PATH=" + filepath.Dir(program) + ":/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + temp,
			"XDG_RUNTIME_DIR=" + runtime, "TERM=dumb", "LANG=C.UTF-8",
			"GORACE=atexit_sleep_ms=0", // else every command of a -race build rests for a second at its end
		},
	}
}

// Reaches lets the real CLI reach a Messages API.
func (m *Machine) Reaches(url string) { m.Env = append(claude.Environment(m.Home, url), m.Env...) }

// Plays makes the real CLI of this path the agent. A scripted Messages API, closed by the caller, plays the scenario.
func (m *Machine) Plays(cli string, s examples.Scenario, onRequest func(messagesapi.Request)) {
	m.API = messagesapi.Serve(s, onRequest)
	m.Reaches(m.API.URL)
	m.Env = append(m.Env, "CLAUDE_SUPERVISE_CLAUDE="+cli)
}

// Command is a command of the program.
func (m *Machine) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.Program, args...)
	cmd.Dir, cmd.Env = m.Cwd, m.Env
	return cmd
}

// Run runs a command to its end. The error is one of this machine; the code says how the command ended.
func (m *Machine) Run(args ...string) (code int, stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd := m.Command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return 0, "", "", err
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String(), nil
}
