package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"claude-supervise/e2e/machine"
)

// Every command and every error as a story with its output. The scripts know these commands beside testscript's own:
//
//	exits N command...        runs a command, which must exit with N
//	begin NAME command...     starts a command that goes on in the background
//	signal INT NAME           sends it a signal (or TERM, KILL, STOP, CONT)
//	ends N NAME               waits for it; it must exit with N, or by a signal if N is -1
//	until PATTERN command...  runs a command again and again until its stdout, made the same, matches
//	nothing-left RUN          no process of that run lives
//
// What they show is made the same in every run: ids become RUN, RUN2, AGENT, QUESTION, QUESTION2 and so on in the order
// in which the script first sees them, and $RUN, $QUESTION2, ... hold the ids themselves from then on; times become
// TIME and AGO, pids PID, session ids UUID, the script's folder $WORK, and one of a demo DEMO.
//
// With CLAUDE_SUPERVISE_UPDATE_SCRIPTS set, what cmp compares with is written anew.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setUpScript,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("CLAUDE_SUPERVISE_UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  scriptExits,
			"begin":  scriptBegin,
			"signal": scriptSignal,
			"ends":   scriptEnds,
			"until":  scriptUntil,
			"nothing-left": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 || !anyID.MatchString(args[0]) {
					ts.Fatalf("usage: nothing-left RUN")
				}
				if left := machine.Marked(args[0]); len(left) > 0 {
					ts.Fatalf("processes %v are left", left)
				}
			},
		},
	})
}

// scriptPatience bounds a command in the background that hangs, which then says where.
const scriptPatience = 3 * time.Minute

// storyKey finds a script's story among its values.
type storyKey struct{}

// A story is what one script has seen so far.
type story struct {
	names map[string]string // ids to what they are called
	count map[string]int    // ids of each kind
	begun map[string]*begun // commands in the background
}

type begun struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func setUpScript(env *testscript.Env) error {
	for name, value := range map[string]string{
		"HOME":            filepath.Join(env.WorkDir, ".home"),
		"XDG_RUNTIME_DIR": filepath.Join(env.WorkDir, ".run"),
	} {
		if err := os.Mkdir(value, 0o700); err != nil {
			return err
		}
		env.Setenv(name, value)
	}
	env.Defer(func() { machine.EndAll(filepath.Join(env.WorkDir, ".home")) })
	env.Setenv("PATH", filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	env.Setenv("TERM", "dumb")
	env.Setenv("LANG", "C.UTF-8")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command of a -race build rests for a second at its end
	env.Values[storyKey{}] = &story{names: map[string]string{}, count: map[string]int{}, begun: map[string]*begun{}}
	return nil
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// wanted reads the exit code that a line of a script begins with.
func wanted(ts *testscript.TestScript, neg bool, args []string) int {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command... or ends N name")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	return code
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	want := wanted(ts, neg, args)
	err := ts.Exec(args[1], args[2:]...)
	code := exitCode(ts, err)
	storyOf(ts).tell(ts, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	if code != want {
		told := storyOf(ts).names
		for _, run := range slices.Sorted(maps.Keys(told)) { // a failure that comes once in a hundred plays tells all it can
			if strings.HasPrefix(run, "r-") {
				_ = ts.Exec("claude-supervise", "logs", "--raw", run)
				ts.Logf("%s%s", ts.ReadFile("stdout"), ts.ReadFile("stderr"))
			}
		}
		ts.Fatalf("it exits %d, not %d", code, want)
	}
}

func exitCode(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

func scriptBegin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: begin NAME command...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	b := &begun{cmd: command(ctx, ts, args[1:])}
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	if err := b.cmd.Start(); err != nil {
		cancel()
		ts.Check(err)
	}
	storyOf(ts).begun[args[0]] = b
	ts.Defer(func() {
		cancel()
		if b.cmd.ProcessState == nil { // the script failed before its end
			_ = b.cmd.Wait()
		}
	})
}

// command makes a command as the script's own exec would, which testscript does not give out.
func command(ctx context.Context, ts *testscript.TestScript, args []string) *exec.Cmd {
	path := args[0]
	if path == filepath.Base(program) {
		path = program
	}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "PATH", "TMPDIR",
		"TERM", "LANG", "GORACE"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

func scriptSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || storyOf(ts).begun[args[1]] == nil {
		ts.Fatalf("usage: signal INT|TERM|KILL|STOP|CONT NAME, of a command that was begun")
	}
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill, "CONT": syscall.SIGCONT}
	to := storyOf(ts).begun[args[1]].cmd.Process
	if args[0] == "STOP" {
		ts.Check(machine.StandStill(to.Pid))
	} else if err := to.Signal(signals[args[0]]); !errors.Is(err, os.ErrProcessDone) {
		ts.Check(err)
	}
}

func scriptEnds(ts *testscript.TestScript, neg bool, args []string) {
	want := wanted(ts, neg, args)
	s := storyOf(ts)
	b := s.begun[args[1]]
	if b == nil {
		ts.Fatalf("nothing called %s was begun", args[1])
	}
	delete(s.begun, args[1])
	code := exitCode(ts, b.cmd.Wait())
	s.tell(ts, b.stdout.String(), b.stderr.String())
	if code != want {
		ts.Fatalf("it exits %d, not %d", code, want)
	}
}

// How often until runs its command, and how long it rests in between: on a busy machine what it waits for needs the
// processor more than its looks do.
const (
	untilTries = 1500
	untilRest  = 50 * time.Millisecond
)

func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN command...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for range untilTries {
		stdout, err := command(context.Background(), ts, args[1:]).Output()
		ts.Check(err)
		if s := storyOf(ts); pattern.MatchString(s.same(ts, string(stdout))) {
			s.tell(ts, string(stdout), "")
			return
		}
		time.Sleep(untilRest)
	}
	ts.Fatalf("%q was never seen", args[0])
}

// tell makes what a command printed the script's stdout and stderr.
func (s *story) tell(ts *testscript.TestScript, stdout, stderr string) {
	_, err := fmt.Fprint(ts.Stdout(), s.same(ts, stdout))
	ts.Check(err)
	_, err = fmt.Fprint(ts.Stderr(), s.same(ts, stderr))
	ts.Check(err)
}

var kinds = map[string]string{"r-": "RUN", "a-": "AGENT", "q-": "QUESTION"}

var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "TIME"},
	{regexp.MustCompile(`(\bjust now|\b\d+[smh] ago) {2,}`), "AGO  "}, // in a column, which is as wide as the longest
	{regexp.MustCompile(`\bSINCE {2,}`), "SINCE  "},
	{regexp.MustCompile(`\bjust now\b|\b\d+[smh] ago\b`), "AGO"},
	{regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `), "TIME "},
	{regexp.MustCompile(`(?m)^Worked +\d+\w+( \d+\w+)?`), "Worked       AGO"},
	{regexp.MustCompile(`"worked_seconds":\d+(\.\d+)?`), `"worked_seconds":AGO`},
	{regexp.MustCompile(`\((\d+[smhd] ?){1,2}, (<?\$[\d,.]+\))`), "(AGO, $2"}, // what a run has taken
	{regexp.MustCompile(`/\S+/supervise-demo-\d+`), "DEMO"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b(pid|process|kill -CONT) \d+`), "$1 PID"},
	{regexp.MustCompile(`"(supervisor_)?pid":[1-9]\d*`), `"${1}pid":PID`},
	{regexp.MustCompile(`(\(\+\d+ lines?, )\d+ bytes\)`), "${1}N bytes)"}, // of a call that names the test's folder
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UUID"},
}

// same takes out of a text what differs from run to run.
func (s *story) same(ts *testscript.TestScript, text string) string {
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		name, known := s.names[id]
		if !known {
			name = kinds[id[:2]]
			s.count[name]++
			if n := s.count[name]; n > 1 {
				name += strconv.Itoa(n)
			}
			s.names[id] = name
			ts.Setenv(name, id)
		}
		return name
	})
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.name)
	}
	return strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
}
