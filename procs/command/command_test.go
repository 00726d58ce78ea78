package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"claude-supervise/procs"
)

const (
	floodLine  = 1 << 10
	floodLines = 64 << 20 / floodLine
)

// command is a launch of a program in claude's place.
func command(prompt string, argv ...string) procs.Spec {
	return procs.Spec{Command: argv, Prompt: prompt,
		Marker: procs.Marker{Run: "r-test", Agent: "a-" + uuid.NewString(), Launch: 1}}
}

// script is one of a shell script, $1 and further being the arguments.
func script(text string, args ...string) procs.Spec {
	return command("the prompt", append([]string{"sh", "-c", text, "sh"}, args...)...)
}

// player is one of this binary, in a part.
func player(t *testing.T, prompt, part string, args ...string) procs.Spec {
	t.Helper()
	exe, err := os.Executable()
	noError(t, err)
	s := command(prompt, append([]string{exe}, args...)...)
	s.Extra = []string{partVariable + "=" + part}
	return s
}

// raw joins what was printed, and gives the other messages.
func raw(all []procs.Message) (text string, others []procs.Message) {
	for _, m := range all {
		if r, ok := m.(procs.Raw); ok {
			text += r.Text
		} else {
			others = append(others, m)
		}
	}
	return text, others
}

func TestACommandRunsAsClaudeDoesButForItsStreams(t *testing.T) {
	s := player(t, "do it", "facts", "--task", "{}")
	s.Dir = t.TempDir()
	s.Env = []string{"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer", procs.EnvRun + "=r-outer"}
	s.Extra = append(s.Extra, "CLAUDE_SUPERVISE_ANSWER=yes")
	r := start(t, s)
	text, _ := raw(r.rest())
	var facts struct {
		Terminal  bool
		Args, Env []string
		Dir       string
		Columns   int
	}
	if err := json.Unmarshal([]byte(text), &facts); err != nil || !facts.Terminal {
		t.Fatalf("%s: %v", text, err)
	}
	if dir, err := filepath.EvalSymlinks(s.Dir); err != nil || facts.Dir != dir {
		t.Errorf("runs in %s, not %s (%v)", facts.Dir, dir, err)
	}
	if want := []string{"--task", "do it"}; !slices.Equal(facts.Args, want) || facts.Columns != int(window.Cols) {
		t.Errorf("arguments %q, %d columns", facts.Args, facts.Columns)
	}
	slices.Sort(facts.Env)
	wantEnv := []string{
		procs.EnvAgent + "=" + s.Marker.Agent, "CLAUDE_SUPERVISE_ANSWER=yes", procs.EnvLaunch + "=1", procs.EnvRun + "=r-test",
		partVariable + "=facts", "MCP_TOOL_TIMEOUT=2000000000", "PATH=/bin", "PWD=" + s.Dir, "TERM=dumb",
	}
	if !slices.Equal(facts.Env, wantEnv) {
		t.Errorf("environment: %q", facts.Env)
	}
}

func TestATerminalThatTheEnvironmentNamesStays(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{{[]string{}, "dumb"}, {[]string{"TERM=xterm"}, "xterm"}, {[]string{"TERM="}, "dumb"}} {
		s := command("", "x")
		s.Env = c.env
		if got := procs.Lookup(environ(s), "TERM"); got != c.want {
			t.Errorf("%q: %q", c.env, got)
		}
	}
}

func TestAPromptIsPartOfItsArgumentAndOfNoShell(t *testing.T) {
	for _, prompt := range []string{
		"", "one", "two words", `quotes " ' and \`, "$(touch gone) `touch gone` $HOME; touch gone",
		"new\nline\n", "-rf", "{}",
		"ä€𝄞", "*", strings.Repeat("x", maxArgument-len("<>")),
	} {
		t.Run(fmt.Sprintf("%.20q", prompt), func(t *testing.T) {
			s := script(`for a; do printf '%s\0' "$a"; done; wc -c`, "{}", "<{}>", "plain", "")
			s.Prompt, s.Dir = prompt, t.TempDir()
			text, _ := raw(start(t, s).rest())
			got := strings.Split(text, "\x00")
			if len(got) != 5 || got[0] != prompt || got[1] != "<"+prompt+">" || got[2] != "plain" || got[3] != "" {
				t.Errorf("got %.100q", got)
			}
			if strings.TrimSpace(got[len(got)-1]) != "0" {
				t.Errorf("on its input: %q", got[len(got)-1])
			}
			if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
				t.Errorf("it has made %v (%v)", left, err)
			}
		})
	}
}

func TestAPromptIsTheInputWhereNoArgumentHasIt(t *testing.T) {
	prompt := strings.Repeat("0123456789 äöü\n", 1<<16)
	got, others := raw(start(t, player(t, prompt, "input", "{", "}")).rest())
	if want := fmt.Sprintf("%d bytes, %d lines, EOF\n", len(prompt), 1<<16); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e := others[len(others)-1].(procs.Exit); e.Code != 0 {
		t.Errorf("%+v", e)
	}
}

func TestAPromptThatNobodyReadsStopsNothing(t *testing.T) {
	prompt := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, text string }{
		{"who ends at once", "exit 0"},
		{"who closes it", "exec <&-; echo here"},
		{"who reads the beginning", "head -c 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := script(c.text)
			s.Prompt = prompt
			all := start(t, s).rest()
			if e := all[len(all)-1].(procs.Exit); e.Code != 0 || e.Stderr != "" {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("who stays", func(t *testing.T) {
		s := script("echo here; sleep 86400")
		s.Prompt = prompt
		r := start(t, s)
		r.Patience.Term = hangs // the first signal is enough
		if got := next[procs.Raw](r).Text; got != "here\n" {
			t.Errorf("got %q", got)
		}
		r.End(context.Background(), procs.Park)
		if got := next[procs.Exit](r); got.Signal != "SIGTERM" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestACommandIsFoundWhereItRuns(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(dir, "mine"): "echo mine", filepath.Join(dir, "sub", "tool"): "echo sub",
		filepath.Join(bin, "tool"): "echo tool",
	} {
		noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		noError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	for name, want := range map[string]string{
		"./mine": "mine\n", "sub/tool": "sub\n", "tool": "tool\n", filepath.Join(bin, "tool"): "tool\n",
	} {
		s := command("", name)
		s.Dir, s.Env = dir, []string{"PATH=sub:.:" + bin}
		if got, _ := raw(start(t, s).rest()); got != want {
			t.Errorf("%s printed %q", name, got)
		}
	}
}

func TestACommandThatCannotRunIsAStartError(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	file("plain", "#!/bin/sh\n", 0o600)
	file("no-interpreter", "#!/no/such/program\n", 0o700)
	file("no-program", "\x00\x01", 0o700)
	file("here", "#!/bin/sh\n", 0o700)
	for _, c := range []struct {
		name  string
		argv  []string
		input string
		want  error
		says  string
	}{
		{"nowhere in $PATH", []string{"no-such-program"}, "", procs.ErrNotFound,
			"cannot start no-such-program: no such program (it is not in $PATH; install it, or give its path)"},
		{"only in the folder, which is not in $PATH", []string{"here"},
			"", procs.ErrNotFound, "cannot start here: no such program"},
		{"missing", []string{"./missing"}, "", procs.ErrNotFound, "(give the path of a program, or the name of one in $PATH)"},
		{"a folder", []string{"."}, "", procs.ErrNotFound, "cannot start .: no such program"},
		{"a folder by its path", []string{"./"}, "", procs.ErrNotExecutable, "it is not a file"},
		{"not executable", []string{"./plain"}, "", procs.ErrNotExecutable, "chmod +x it"},
		{"no interpreter", []string{"./no-interpreter"}, "", procs.ErrNotExecutable,
			"the interpreter that its first line names is missing"},
		{"no program", []string{"./no-program"}, "", procs.ErrNotExecutable, "it is not a program for this machine"},
		{"empty", []string{""}, "", procs.ErrNotFound,
			"cannot start the command: no such program (a pack file names none; give it with --exec)"},
		{"its name from the prompt", []string{"{}"}, "sh", procs.ErrNotFound, "cannot start {}: no such program"},
		{"a prompt too long for an argument", []string{"./here", "-p{}"}, strings.Repeat("x", maxArgument-1),
			errPromptTooLong,
			"the prompt is too long to be an argument (131072 bytes of at most 131071; leave {} out to give it on standard " +
				"input)"},
		{"a prompt that no argument can hold", []string{"./here", "{}"}, "a\x00b", errPromptNUL, "leave {} out"},
		{"arguments too long together", slices.Concat([]string{"./here"}, slices.Repeat([]string{"{}"}, 64)),
			strings.Repeat("x", maxArgument), nil, "its arguments and its environment together are too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := command(c.input, c.argv...)
			s.Dir = dir
			_, err := procs.Start(Agent{}, s, func(m procs.Message) { t.Errorf("it said %+v", m) })
			start := new(procs.StartError)
			if !errors.As(err, &start) || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestACommandTakesNoMessages(t *testing.T) {
	r := start(t, script("echo here; sleep 86400"))
	next[procs.Raw](r)
	for name, err := range map[string]error{
		"Send": r.Send("u", "hello"), "Allow": r.Allow("r", json.RawMessage("{}")), "Deny": r.Deny("r", "no", true),
		"Gate": r.Gate("r", ""), "CloseInput": r.CloseInput(),
	} {
		if !errors.Is(err, errNoMessages) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
