// Package e2e tests the program from outside, as a person and a shell see it: the built program, in a home of its own,
// with the built-in stand-in or the real Claude CLI as the agent.
package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// program is the built program, plainProgram the same without the race detector, for tests of many processes.
var program, plainProgram string

func TestMain(m *testing.M) {
	if doc := os.Getenv(shopVariable); doc != "" {
		var s shop
		if err := json.Unmarshal([]byte(doc), &s); err != nil {
			panic(err)
		}
		s.serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(machine.Main(m, buildPrograms))
}

func buildPrograms(dir string) error {
	const command = "cmd/claude-supervise"
	program = filepath.Join(dir, "claude-supervise")
	plainProgram = program
	if raceFlags != nil {
		plain := filepath.Join(dir, "plain")
		plainProgram = filepath.Join(plain, "claude-supervise")
		if err := machine.Build(plain, nil, command); err != nil {
			return err
		}
	}
	return machine.Build(dir, raceFlags, command)
}

// A world is a machine for one test.
type world struct {
	*machine.Machine
	t     *testing.T
	agent []string // flags of run that choose the agent
	image string   // a file that is given with each answer
	api   bool     // a real CLI plays, whose conversation has images
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, program)
}

func newWorldWith(t *testing.T, program string) *world {
	t.Helper()
	return &world{Machine: machine.For(t, program), t: t}
}

// load returns a built-in scenario.
func load(t *testing.T, name string) examples.Scenario {
	t.Helper()
	s, err := examples.Load(name)
	noError(t, err)
	return s
}

// standIn makes the built-in stand-in play the scenario.
func (w *world) standIn(s examples.Scenario) *world {
	w.agent = []string{"--demo", s.Name, "--cwd", "."}
	return w
}

// real makes the real CLI play the scenario, against a scripted Messages API.
func (w *world) real(s examples.Scenario, onRequest func(messagesapi.Request)) *world {
	w.t.Helper()
	return w.release(claude.Program(w.t), s, onRequest)
}

// release makes a release of the real CLI play it.
func (w *world) release(program string, s examples.Scenario, onRequest func(messagesapi.Request)) *world {
	w.t.Helper()
	w.Plays(program, s, onRequest)
	w.api = true
	w.t.Cleanup(w.API.Close)
	w.agent = []string{s.Prompt}
	if s.Task != nil {
		w.agent = []string{"-f", w.taskFile(s)}
	}
	return w
}

// taskFile puts the task file of a scenario where a person would keep it: beside the folder to work in.
func (w *world) taskFile(s examples.Scenario) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "task.yaml")
	noError(w.t, os.WriteFile(path, s.Task, 0o600))
	return path
}

// runArgs is the command line that starts a scenario.
func (w *world) runArgs(s examples.Scenario, flags ...string) []string {
	args := append([]string{"run"}, flags...)
	args = append(append(args, s.Flags...), w.agent...)
	if w.agent[0] != "--demo" && len(s.ClaudeFlags) > 0 { // a demo brings its own
		args = append(append(args, "--"), s.ClaudeFlags...)
	}
	return args
}

// run runs a command to its end.
func (w *world) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	code, stdout, stderr, err := w.Run(args...)
	noError(w.t, err)
	return code, stdout, stderr
}

// must runs a command that has to succeed, and gives its stdout.
func (w *world) must(args ...string) string {
	w.t.Helper()
	return w.exits(0, args...)
}

// exits runs a command that has to end with an exit code, and gives its stdout.
func (w *world) exits(want int, args ...string) string {
	w.t.Helper()
	code, stdout, stderr := w.run(args...)
	if code != want {
		w.t.Fatalf("%q exits %d, want %d:\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout
}

// ps returns the only run, as `ps -a --json` shows it.
func (w *world) ps() runView {
	w.t.Helper()
	runs := parse[[]runView](w.t, w.must("ps", "-a", "--json"))
	if len(runs) != 1 {
		w.t.Fatalf("there are %d runs", len(runs))
	}
	return runs[0]
}

// becomes waits until the only run has a status. A look takes 50 ms of processor, which what it waits for needs.
func (w *world) becomes(status string) (r runView) {
	w.t.Helper()
	waitUntil(w.t, "the run is "+status, func() bool { r = w.ps(); return r.Status == status })
	return r
}

func (w *world) questions() []questionView {
	w.t.Helper()
	return parse[[]questionView](w.t, w.must("questions", "--json"))
}

type (
	runView      = machine.RunView
	questionView = machine.QuestionView
	event        = machine.Event
)

func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return v
}

// A supervised is a `run --json` or `resume --json` under way.
type supervised struct {
	t      *testing.T
	cmd    *exec.Cmd
	events chan event
	seen   []event
	stderr *machine.Output
	ended  chan struct{}
}

// start starts a command with --json and reads its events.
func (w *world) start(args ...string) *supervised {
	w.t.Helper()
	dash := len(args)
	for i, a := range args {
		if a == "--" {
			dash = i
			break
		}
	}
	args = append(append(append([]string{}, args[:dash]...), "--json"), args[dash:]...)
	run, err := machine.Start(w.Command(args...))
	noError(w.t, err)
	s := &supervised{t: w.t, cmd: run.Cmd, events: make(chan event, 4096), stderr: &run.Stderr, ended: make(chan struct{})}
	go s.read(run)
	w.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	})
	return s
}

func (s *supervised) read(run *machine.Run) {
	for {
		e, err := run.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Error(err)
			continue
		}
		s.events <- e
	}
	close(s.events)
	_ = s.cmd.Wait()
	close(s.ended)
}

// until reads events up to the next one of a type.
func (s *supervised) until(kind string) event {
	s.t.Helper()
	for e := range s.events {
		s.seen = append(s.seen, e)
		if e.Type == kind {
			return e
		}
	}
	s.t.Fatalf("it ended without an event %q; it had %s\nstderr:\n%s", kind, s.types(), s.stderr)
	return event{}
}

// waitsFor reads events up to one that says this, and gives all that it says.
func (s *supervised) waitsFor(text string) string {
	s.t.Helper()
	for {
		if said := s.until("progress").Text; strings.Contains(said, text) {
			return said
		}
	}
}

func (s *supervised) types() string {
	var types []string
	for _, e := range s.seen {
		types = append(types, e.Type)
	}
	return strings.Join(types, " ")
}

// wait reads the rest and gives the exit code.
func (s *supervised) wait() int {
	s.t.Helper()
	for e := range s.events {
		s.seen = append(s.seen, e)
	}
	<-s.ended
	return s.cmd.ProcessState.ExitCode()
}

// exits reads the rest, and expects an exit code.
func (s *supervised) exits(want int) {
	s.t.Helper()
	if code := s.wait(); code != want {
		s.t.Fatalf("exit %d, want %d\n%s", code, want, s.stderr)
	}
}

// standsStill stops it, and returns once it does nothing any more.
func (s *supervised) standsStill() {
	s.t.Helper()
	noError(s.t, machine.StandStill(s.cmd.Process.Pid))
}

// kill9 kills the supervisor as a power cut would.
func (s *supervised) kill9() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	s.wait()
}

func (s *supervised) interrupt() {
	s.t.Helper()
	noError(s.t, s.cmd.Process.Signal(syscall.SIGINT))
}

// count tells how many events of a type were seen.
func (s *supervised) count(kind string) int {
	n := 0
	for _, e := range s.seen {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// fileMost is how long a file is waited for on the busiest machine: whoever was to write it has ended by then.
const fileMost = machine.Most

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	waitForFile(t, path, func(os.FileInfo) bool { return true })
}

// waitForText waits until a file is there and has something in it: a shell makes one before it writes.
func waitForText(t *testing.T, path string) {
	t.Helper()
	waitForFile(t, path, func(info os.FileInfo) bool { return info.Size() > 0 })
}

func waitForFile(t *testing.T, path string, ready func(os.FileInfo) bool) {
	t.Helper()
	never := time.After(fileMost)
	watch, err := fsnotify.NewWatcher()
	noError(t, err)
	defer func() { _ = watch.Close() }()
	noError(t, watch.Add(filepath.Dir(path)))
	for {
		if info, err := os.Stat(path); err == nil && ready(info) {
			return
		}
		select {
		case <-watch.Events:
		case err := <-watch.Errors:
			t.Fatal(err)
		case <-never:
			t.Fatalf("%s has not come in %v", path, fileMost)
		}
	}
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
