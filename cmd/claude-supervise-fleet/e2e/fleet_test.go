// Package e2e tests a fleet from outside: a server, workers that are processes with homes of their own, and commands.
// $CLAUDE_SUPERVISE_TEST_PROGRAMS is the folder of both programs (make fleet).
package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/devkey"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/machinetest"
	"claude-supervise/supervisor/exit"
)

// patience bounds what a test waits for: it never asserts how long something took.
const patience = 2 * time.Minute

// secret stands for the token of claude, which is a worker's own.
const secret = "sk-test-0123456789-token-of-the-worker"

// A site is a fleet whose server runs on this machine.
type site struct {
	t        *testing.T
	programs string
	home     string   // of the person
	dev      string   // the folder of the server, the key and the snapshots
	up       *process // the server

	more  func(home string) []string // what workers have in their environment; nil: nothing more
	store string                     // the URL of the blob store; "": the folder of the server's
}

var starting sync.Mutex

// newSite starts a server.
func newSite(t *testing.T) *site {
	t.Helper()
	programs := os.Getenv("CLAUDE_SUPERVISE_TEST_PROGRAMS")
	if programs == "" {
		machinetest.Lacks(t, "$CLAUDE_SUPERVISE_TEST_PROGRAMS is not set (make fleet)")
	}
	home := t.TempDir()
	s := &site{t: t, programs: programs, home: home,
		dev: filepath.Join(home, ".local/state/claude-supervise-fleet/dev")}
	starting.Lock() // a server chooses ports that are free before it listens on them
	defer starting.Unlock()
	s.up = s.starts(home, isUp, "dev", "--no-worker")
	return s
}

// isUp is what the server says once it is ready.
const isUp = "A fleet runs here"

// restarts ends the server, and starts it again with what it has on disk.
func (s *site) restarts() {
	s.t.Helper()
	s.up.leaves(s.t)
	starting.Lock()
	defer starting.Unlock()
	s.up = s.starts(s.home, isUp, "dev", "--no-worker")
}

// A process is one of the fleet, the leader of a group.
type process struct {
	cmd  *exec.Cmd
	home string
	said *machine.Output
	done chan struct{}
}

func (s *site) env(home string) []string {
	var env []string
	if s.more != nil {
		env = s.more(home)
	}
	if s.store != "" {
		env = append(env, "CLAUDE_SUPERVISE_FLEET_STORE="+s.store)
	}
	if key := s.serverKey(); !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "TEMPORAL_") }) {
		env = append(env, "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+key.Certificate, "TEMPORAL_TLS_CLIENT_CERT_PATH="+
			key.Certificate, "TEMPORAL_TLS_CLIENT_KEY_PATH="+key.Key)
	}
	return append(env, "PATH="+s.programs+":"+os.Getenv("PATH"), "HOME="+home, "ANTHROPIC_API_KEY="+secret)
}

// serverKey is what the server of the site wants to see.
func (s *site) serverKey() devkey.Files {
	return devkey.Files{Certificate: filepath.Join(s.dev, "server.crt"), Key: filepath.Join(s.dev, "server.key")}
}

// dials reaches the server of the site.
func (s *site) dials(o sdk.Options) (sdk.Client, error) {
	dev := s.server()
	shown, err := s.serverKey().TLS()
	if err != nil {
		return nil, err
	}
	o.HostPort, o.Namespace, o.ConnectionOptions.TLS = dev.Address, dev.Namespace, shown
	return sdk.Dial(o)
}

// file writes a file of the person's.
func (s *site) file(name string, content []byte) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// starts starts a process in a group of its own, and waits until it has said something.
func (s *site) starts(home, until string, args ...string) *process {
	s.t.Helper()
	p, err := s.begins(home, until, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// begins is starts for those who may not end the test.
func (s *site) begins(home, until string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(filepath.Join(s.programs, "claude-supervise-fleet"), args...), home: home,
		said: &machine.Output{}, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = s.env(home), p.said, p.said, home
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	s.t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(patience):
			p.signal(syscall.SIGKILL)
			s.t.Errorf("%v does not end: %s", args, p.said)
		}
		if s.t.Failed() {
			s.t.Logf("%v said: %s", args, p.said)
		}
	})
	return p, p.awaits(until)
}

// awaits waits until a process has said something.
func (p *process) awaits(until string) error {
	for timeout := time.After(patience); !strings.Contains(p.said.String(), until); {
		select {
		case <-p.said.More():
		case <-p.done:
			return fmt.Errorf("it ended: %s", p.said)
		case <-timeout:
			return fmt.Errorf("it never said %q: %s", until, p.said)
		}
	}
	return nil
}

// says is awaits for a test that ends otherwise.
func (p *process) says(t *testing.T, until string) {
	t.Helper()
	if err := p.awaits(until); err != nil {
		t.Fatal(err)
	}
}

// signal sends a signal to the worker and to the supervisors that it has started.
func (p *process) signal(sig syscall.Signal) {
	all := append(children(p.cmd.Process.Pid), p.cmd.Process.Pid)
	for _, pid := range all {
		_ = syscall.Kill(-pid, sig)
	}
}

// leaves ends a process in order, and waits for that.
func (p *process) leaves(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%q does not end: %s", p.cmd.Args, p.said)
	}
}

// children returns the processes that a process has started itself, each the leader of a group.
func children(of int) []int {
	return slices.DeleteFunc(machine.Children(of), func(pid int) bool { return machine.Group(pid) != pid })
}

// worker starts a worker with a home of its own.
func (s *site) worker(name string, flags ...string) *process {
	s.t.Helper()
	return s.workerIn(s.t.TempDir(), name, flags...)
}

func (s *site) workerIn(home, name string, flags ...string) *process {
	s.t.Helper()
	return s.starts(home, takesRuns, s.workerArgs(name, flags...)...)
}

// takesRuns is what a worker says once it is ready.
const takesRuns = "takes up to"

func (s *site) workerArgs(name string, flags ...string) []string {
	s.t.Helper()
	dev := s.server()
	return append([]string{"worker", "--name", name, "--address", dev.Address, "--key", dev.Key, "--store",
		cmp.Or(s.store, dev.Store),
		"--leave-within", "20s"}, flags...)
}

// A server is where the fleet of a site is.
type server struct{ Address, Namespace, Key, Store string }

func (s *site) server() (dev server) {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dev, "dev.json"))
	if err == nil {
		err = json.Unmarshal(content, &dev)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return dev
}

// says runs a command of the person, and gives its exit code and what it printed.
func (s *site) says(args ...string) (code int, out, stderr string) {
	s.t.Helper()
	code, out, stderr, err := s.runs(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return code, out, stderr
}

// runs is says for those who may not end the test.
func (s *site) runs(args ...string) (code int, out, stderr string, err error) {
	person := machine.Machine{Program: filepath.Join(s.programs, "claude-supervise"), Cwd: s.home, Env: s.env(s.home)}
	return person.Run(append([]string{"fleet"}, args...)...)
}

func (s *site) must(args ...string) string {
	s.t.Helper()
	code, out, stderr := s.says(args...)
	if code != 0 {
		s.t.Fatalf("%v exits %d: %s%s", args, code, out, stderr)
	}
	return strings.TrimSpace(out)
}

// tooBusy is what a command says when the server has not answered it: so much goes on that it has no time.
var tooBusy = regexp.MustCompile(`the fleet's server (at \S+ )?cannot be reached|failed reaching server`)

// reads is must for a command that changes nothing: while the server is too busy, it is run again. Where it fails, the
// test goes on with "": whoever checks many runs checks the others, too.
func (s *site) reads(args ...string) string {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		code, out, stderr := s.says(args...)
		if code == 0 {
			return strings.TrimSpace(out)
		}
		if !tooBusy.MatchString(stderr) || time.Now().After(deadline) {
			s.t.Errorf("%v exits %d: %s%s", args, code, out, stderr)
			return ""
		}
	}
}

type listed struct {
	machine.RunView
	Worker    string
	Epoch     int
	Notes     []string
	Questions []struct{ ID, Question string }
}

// parked reports whether a run waits for one answer, and its worker has handed it over: it is called parked before that.
func (l listed) parked() bool { return l.Status == "parked" && l.Worker == "" && len(l.Questions) == 1 }

// until waits until a run is as a test wants it.
func (s *site) until(run, what string, is func(listed) bool) listed {
	s.t.Helper()
	var last string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		last = s.reads("ps", "-a", "--json", "--limit", "0")
		var all []listed
		if err := json.Unmarshal([]byte(last), &all); err != nil {
			s.t.Fatal(err)
		}
		for _, l := range all {
			if l.ID == run && is(l) {
				return l
			}
		}
	}
	s.t.Fatalf("%s is never %s: %s", run, what, last)
	return listed{}
}

// asks waits until a run asks, where a worker has it.
func (s *site) asks(run, worker string) string {
	s.t.Helper()
	l := s.until(run, "asking on "+worker, func(l listed) bool { return l.Worker == worker && len(l.Questions) == 1 })
	return l.Questions[0].ID
}

// succeeds waits for the end of a run.
func (s *site) succeeds(run string) {
	s.t.Helper()
	s.ends(run, 0)
}

// ends waits until a run has ended with an exit code.
func (s *site) ends(run string, want int) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // it may be parked on its way
		code, out, stderr := s.says("wait", run, "--timeout", patience.String())
		if code == want {
			return
		}
		if code != exit.Parked || time.Now().After(deadline) {
			s.t.Fatalf("%s ends with %d: %s%s\n%s", run, code, out, stderr, s.must("ps", "-a", "--json"))
		}
	}
}

// left returns the processes of this user that carry the marker of a run, or are its supervisor.
func left(run string) []int {
	return append(machine.Marked(run), machine.With("CLAUDE_SUPERVISE_BACKGROUND="+run)...)
}

// nothingIsLeft waits until no process of a run is there.
func nothingIsLeft(t *testing.T, run string) {
	t.Helper()
	var last []int
	if !comes(func() bool { last = left(run); return len(last) == 0 }) {
		t.Errorf("of %s is left:\n%s", run, machine.Described("", last))
	}
}

// asking hands in a run that asks once, writes a file by the answer, and reports.
func (s *site) asking(flags ...string) string {
	s.t.Helper()
	return s.must(append([]string{"run", "--demo", "ask", "--lease", "3s", "--hold", "forever"}, flags...)...)
}

// holds has a worker hold a run that asks.
func (s *site) holds(flags ...string) (one *process, run, question string) {
	s.t.Helper()
	one, run = s.worker("one"), s.asking(flags...)
	return one, run, s.asks(run, "one")
}

// comes waits until something is so, and reports whether it is.
func comes(is func() bool) bool {
	for deadline := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func TestAFleetFromTheTaskToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.must("run", "--demo", "ask", "--hold", "0")
	l := s.until(run, "parked", listed.parked)
	nothingIsLeft(t, run)
	q := l.Questions[0].ID
	if code, _, said := s.says("answer", "q-nosuch", "JWT"); code != 2 || !strings.Contains(said, "nothing was kept") {
		t.Errorf("an answer to nothing exits %d: %s", code, said)
	}
	if code, _, said := s.says("wait", run); code != 75 {
		t.Errorf("wait for a parked run exits %d: %s", code, said)
	}
	s.must("answer", q, "JWT")
	if code, _, said := s.says("answer", q, "Sessions"); code != 1 || !strings.Contains(said, "answered before") ||
		!strings.Contains(said, "JWT") {
		t.Errorf("the second answer exits %d: %s", code, said)
	}
	s.succeeds(run)
	s.keepsHistory(run, "parked")
	if shown := s.must("show", run); !strings.Contains(shown, "succeeded") || !strings.Contains(shown, "JWT") {
		t.Errorf("it is shown as %s", shown)
	}
	if said := s.must("logs", run); !strings.Contains(said, "I look at what there is first.") {
		t.Errorf("its log is %s", said)
	}
	stopped := s.asking()
	s.asks(stopped, "one")
	if code, out, said := s.says("wait", stopped, "--question"); code != 0 || !strings.HasPrefix(out, stopped+" asks q-") {
		t.Errorf("wait --question for a run that is held exits %d: %s%s", code, out, said)
	}
	if code, out, said := s.says("wait", stopped, run, "--any"); code != 0 || !strings.HasPrefix(out, run+" succeeded") ||
		strings.Contains(out, stopped) {
		t.Errorf("wait --any for one that is held and one that has ended exits %d: %s%s", code, out, said)
	}
	if code, out, said := s.says("wait", stopped, run, "--timeout", "0"); code != 124 || !strings.HasPrefix(out, run) ||
		!strings.Contains(said, "Still active: "+stopped+". See: claude-supervise fleet ps") {
		t.Errorf("wait that only looks exits %d: %s%s", code, out, said)
	}
	s.must("stop", stopped)
	if code, _, said := s.says("wait", stopped); code != 5 {
		t.Errorf("a stopped run ends with %d: %s", code, said)
	}
	nothingIsLeft(t, stopped)
	s.keepsHistory(stopped, "stopped")

	// Of what the server and the blob store keep nobody else can read anything, and a worker's token is in none of it.
	err := filepath.WalkDir(s.dev, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an upload got its name meanwhile, or was removed
		}
		if info, unread := d.Info(); err == nil && unread == nil && info.Mode().Perm()&0o077 != 0 && path != s.dev {
			t.Errorf("others may read %s: %s", path, info.Mode())
		}
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, word := range []string{secret, "Which way of login", "auth.txt"} {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s holds %q", path, word)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestARunWhoseWorkerIsKilledGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, run, q := s.holds()
	one.signal(syscall.SIGKILL)
	s.worker("two")
	s.must("answer", q, "JWT") // nobody has the run, and nobody knows it yet
	s.succeeds(run)
	l := s.until(run, "taken over", func(l listed) bool { return l.Epoch == 2 })
	if !strings.Contains(strings.Join(l.Notes, "\n"), "one was not heard from") {
		t.Errorf("nobody is told: %q", l.Notes)
	}
	s.keepsHistory(run, "lost")
	if n := len(s.history(run).GetEvents()); n > mostEvents {
		t.Errorf("its history has %d events", n)
	}
	// The agent of the old worker may live on, for nothing there has ended it: the worker that comes back does.
	s.workerIn(one.home, "one")
	nothingIsLeft(t, run)
}

// mostEvents is how many events a run may have that asks once and is taken over.
const mostEvents = 50

func TestAWorkerThatStoodStillDeliversNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, run, q := s.holds()
	one.signal(syscall.SIGSTOP)
	s.worker("two")
	s.must("answer", q, "JWT")
	s.succeeds(run)
	one.signal(syscall.SIGCONT)
	nothingIsLeft(t, run)
	files, err := filepath.Glob(filepath.Join(one.home, ".local/state/claude-supervise-fleet/worker/runs", "*", "work",
		"auth.txt"))
	if err != nil || len(files) > 0 {
		t.Errorf("its agent went on: %v, %v", files, err)
	}
}

func TestAWorkerThatLeavesHandsItsRunsBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, run, q := s.holds("--lease", "10m") // nobody waits for it to run out
	if err := one.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-one.done
	nothingIsLeft(t, run)
	s.worker("two")
	l := s.until(run, "parked by another worker", func(l listed) bool { return l.Epoch == 2 && l.Status == "parked" })
	if len(l.Questions) != 1 || l.Questions[0].ID != q {
		t.Errorf("it is not asked as it was: %+v", l.Questions)
	}
	s.must("answer", q, "JWT")
	s.succeeds(run)
	s.keepsHistory(run, "handed-back")
}
