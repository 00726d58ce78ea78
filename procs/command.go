package procs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// EnvClaude names the program to run when no flag does.
const EnvClaude = "CLAUDE_SUPERVISE_CLAUDE"

// A Spec is one launch: what to run, where, and in which conversation.
type Spec struct {
	Path    string   // the program
	Prefix  []string // arguments before the CLI's flags
	Flags   []string // the person's own, after ours
	Without []string // optional flags of ours that the release has refused (Failure.Flag)
	Dir     string   // the working directory; "" is the caller's

	Env    []string // the environment to clean and mark; nil is the caller's
	Extra  []string // KEY=VALUE, set on top of it
	Marker Marker

	SessionID string // of the conversation, a UUID
	Resume    bool   // continue the conversation instead of beginning it

	// Log takes every line that the child prints, as one JSON object per line:
	// {"launch":N,"time":RFC 3339,"line":JSON or string}, with "stderr" in place of "line" for that stream.
	// A write that fails stops nothing; Process.LogErr tells of it.
	Log io.Writer
}

// required are the flags without which there is no protocol; all releases since 2.1.7 take them.
var required = []string{
	"-p",
	"--input-format", "stream-json",
	"--output-format", "stream-json",
	"--verbose", // stream-json without it ends with exit code 1
	"--permission-prompt-tool", "stdio",
}

// optional are the flags that we want and can do without. Some releases refuse them, which Classify tells.
var optional = []string{
	"--replay-user-messages",  // receipts
	"--forward-subagent-text", // what subagents say
}

func (s Spec) args() []string {
	args := slices.Concat(s.Prefix, required)
	for _, flag := range optional {
		if !slices.Contains(s.Without, flag) {
			args = append(args, flag)
		}
	}
	if s.Resume {
		args = append(args, "--resume", s.SessionID)
	} else {
		args = append(args, "--session-id", s.SessionID)
	}
	return append(args, s.Flags...)
}

// toolPatience is how long, in milliseconds, the CLI lets one of our own tools wait for its answer: 23 days, near the
// longest that its timers hold. Without it some releases cut the wait short.
const toolPatience = "2000000000"

func (s Spec) environ() []string {
	env := cleaned(s.Env)
	if s.Dir != "" {
		env = append(env, "PWD="+s.Dir)
	}
	env = append(env, "MCP_TOOL_TIMEOUT="+toolPatience)
	return slices.Concat(env, s.Extra, s.Marker.env())
}

// cleaned drops what a Claude session around us would make its child believe: that it runs inside another session,
// that somebody attends to it, and other time limits than ours.
func cleaned(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "CLAUDECODE", "CLAUDE_PID", "CLAUDE_AFK_TIMEOUT_MS",
			"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
			"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT", "MCP_TOOL_TIMEOUT",
			EnvRun, EnvAgent, EnvLaunch:
			return true
		}
		return strings.HasPrefix(name, "CLAUDE_CODE_MESSAGING_")
	})
}

// Why a program cannot be started, as a StartError's cause.
var (
	ErrNotFound      = errors.New("no such program")
	ErrNotExecutable = errors.New("not executable")
	ErrNoDir         = errors.New("no such working directory")
	ErrNotClaude     = errors.New("not Claude Code")
)

// A StartError says why an agent cannot be started. Nothing runs, and trying again without a change is useless.
type StartError struct {
	Path   string // what was to be started
	Reason string // for people, "" if Err says it all
	Err    error  // one of the causes above, or the system's error
}

func (e *StartError) Error() string {
	what := e.Path
	if what == "" {
		what = "claude"
	}
	if e.Reason == "" {
		return fmt.Sprintf("cannot start %s: %v", what, e.Err)
	}
	return fmt.Sprintf("cannot start %s: %v (%s)", what, e.Err, e.Reason)
}

func (e *StartError) Unwrap() error { return e.Err }

// Failure is the error in the form in which the failures of running agents are told.
func (e *StartError) Failure() Failure { return Failure{Kind: NotStarted, Reason: e.Error()} }

// Find gives the absolute path of the program to run: explicit if it is not "", else what $CLAUDE_SUPERVISE_CLAUDE
// names, else claude. A name without a slash is looked up in $PATH, of which only absolute folders count. env is as
// in Spec. Its errors are StartErrors.
func Find(explicit string, env []string) (string, error) {
	if env == nil {
		env = os.Environ()
	}
	name := explicit
	for _, fallback := range []string{lookup(env, EnvClaude), "claude"} {
		if name == "" {
			name = fallback
		}
	}
	if strings.ContainsRune(name, filepath.Separator) {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", &StartError{Path: name, Err: err}
		}
		if _, err := exec.LookPath(path); err != nil {
			return "", startError(path, err)
		}
		return path, nil
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &StartError{Path: name, Err: ErrNotFound,
		Reason: "it is in no folder of $PATH; install Claude Code, or give its path with --claude or $" + EnvClaude}
}

// lookup gives the value that a process started with env would see.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// startError gives the cause of a failed exec of path its type.
func startError(path string, err error) *StartError {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &StartError{Path: path, Err: ErrNotFound, Reason: "give the path of claude with --claude or $" + EnvClaude}
	case statErr == nil && !info.Mode().IsRegular():
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "it is not a file"}
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "the interpreter that its first line names is missing"}
	case errors.Is(err, fs.ErrPermission):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "chmod +x it"}
	case isNotProgram(err):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "it is no program for this machine"}
	}
	return &StartError{Path: path, Err: err}
}

// versionSuffix follows the number in what `claude --version` prints, in all releases.
const versionSuffix = " (Claude Code)"

// Version runs path with --version and gives the release, e.g. "2.1.329". It blocks until that ends or ctx is done. A
// program that does not answer as Claude Code does is a StartError with ErrNotClaude.
func Version(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = cleaned(nil)
	cmd.WaitDelay = time.Second // whoever else holds its output must not hold us
	out := &tail{limit: 4 << 10}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("ask %s for its version: %w", path, ctx.Err())
		}
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return "", &StartError{Path: path, Err: ErrNotClaude, Reason: "--version ended with " + exit.Error()}
		}
		return "", startError(path, err)
	}
	first, _, _ := bytes.Cut(out.bytes(), []byte("\n"))
	version, ok := strings.CutSuffix(strings.TrimSpace(string(first)), versionSuffix)
	if !ok {
		return "", &StartError{Path: path, Err: ErrNotClaude, Reason: fmt.Sprintf("--version printed %.60q", first)}
	}
	return version, nil
}
