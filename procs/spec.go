package procs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

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

	Tools   []Tool   // that we serve to the agent and its subagents; each call is a Call. Not for a Command
	Allowed []string // rules of what runs unasked, in the CLI's own syntax; Tools are allowed without one

	// Briefing is put before the prompt of each subagent that the agent or one of its subagents starts; "": nothing.
	Briefing string

	// AfterCompaction is what the agent's conversation is told once the CLI has compacted it, which may have lost what it
	// began with. One of a subagent is told the Briefing, where the release says whose it is (2.1.332 does); "": nothing.
	AfterCompaction string

	// CheckCall decides of a call before it is made, whatever would permit it: rules and modes, the person's own included.
	// It is called for each call but those of Tools, and holds that up. nil: every call is left to rules and modes.
	CheckCall func(BeforeCall) CallCheck

	// AsksRefused has calls that the CLI refuses by itself told with what they would do (Refused.Call), and the hook
	// before a call ask about one of those that Expect names.
	AsksRefused bool

	SessionID string // of the conversation, a UUID
	Resume    bool   // continue the conversation instead of beginning it

	// At is a line of the conversation, by its uuid, at which it is continued: what follows that is cut off, and a call
	// that is open there waits for its result (SendResults, which takes nothing without). A release that cannot, or a
	// conversation that lacks the line, ends with PlaceGone before anything is read (Release.AnswersInPlace). Used with
	// Resume.
	At string

	// Fork is a conversation that a new one begins with: SessionID gets a copy of what Fork has so far, of which a call
	// that is open has no result, or one that says that it was broken off. Fork may be in the middle of a turn, is left as
	// it is, and need not have been begun in Dir. Not used with Resume: a process that ended before its conversation was
	// there is forked again, and after that resumed.
	Fork string

	// AgentType is the agent definition that the main conversation follows (--agent), "" for none. The CLI does not say
	// that there is none of that name, and goes on without: Init.Agents tells. Releases differ in it (Release.AgentTypes).
	// A Fork on 2.1.329 has the tools of its type, and the prompt of the conversation that it begins with.
	AgentType string

	// BudgetUSD is what this process may spend, subagents included, whatever the conversation has spent before; 0: no
	// bound. The CLI looks at it after each request: the one that reaches it is the last, its calls are not made, and the
	// turn ends with OverBudget. Each later turn of the process ends so without a request: it is of no more use, and
	// another budget takes another process. Of subagents that work at the same time each may go over it with one request.
	BudgetUSD float64

	// MaxTurns is how many API requests each turn may make; 0: no bound. The calls of the last are made, and the turn ends
	// with OverBudget. The process goes on with what it is told next, with a count that begins anew.
	MaxTurns int

	// SpentUSD is what is known to have been spent on the conversation by the processes before this one; 0: nobody knows.
	// On a release whose totals go on (Release.TotalsGoOn) what they have spent beyond that is added to the first Result:
	// turns whose process ended while nobody listened. Used with Resume alone. Leave it away for a conversation that was
	// forked, whose totals go on from those of another.
	SpentUSD float64

	// Command is a program with its arguments that runs in claude's place, without a shell; Path, Prefix, Flags, Without,
	// SessionID and Resume are then not used. Its name is looked up as a person's shell would from Dir, in the $PATH that
	// it gets.
	//
	// Every {} in its arguments stands for the prompt, as part of that one argument, whatever is in it. (A prompt that
	// begins with a dash is taken for a flag by most programs where {} is a word of its own: put -- before it.) The
	// command then reads nothing. Without a {} the prompt is its standard input. It is sent nothing else: Send, Allow,
	// Deny, Gate and CloseInput fail.
	//
	// What it prints comes as Raw, unless its first line is one of claude's --output-format stream-json, whose lines are
	// then decoded. What it prints to stderr is Activity. Its end is the end of its one turn: a Result, then Exit.
	Command []string
	Prompt  string // what Command is to do

	// Log takes every line that the child prints, as one JSON object per line:
	// {"launch":N,"time":RFC 3339,"line":JSON or string}, with "stderr" in place of "line" for that stream. Of what a
	// Command prints raw, "line" is {"type":"raw","text":string} for each Raw.
	// A write that fails stops nothing; Process.LogErr tells of it.
	Log io.Writer
}

// A Tool is one that we serve inside the child, to the main conversation and to its subagents.
type Tool struct {
	Name        string          // without the server's
	Description string          // for the model
	Schema      json.RawMessage // of its input: a JSON Schema (draft 2020-12) of type object
}

// ToolPatience is how long, in milliseconds, the CLI lets one of our own tools wait for its answer: 23 days, near the
// longest that its timers hold. Without it some releases cut the wait short.
const ToolPatience = 2_000_000_000

// Environ returns the environment of the launch: the one that it is given, cleaned, made an agent's by own, and marked.
func (s Spec) Environ(own func([]string) []string) []string {
	env := Cleaned(s.Env)
	if s.Dir != "" {
		env = append(env, "PWD="+s.Dir)
	}
	env = append(env, "MCP_TOOL_TIMEOUT="+strconv.Itoa(ToolPatience))
	return slices.Concat(own(env), s.Extra, s.Marker.env())
}

// Cleaned drops what a Claude session around us would make its child believe: that it runs inside another session,
// that somebody attends to it, and other time limits than ours.
func Cleaned(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "CLAUDECODE", "CLAUDE_PID", "CLAUDE_AFK_TIMEOUT_MS",
			"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
			"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT", "MCP_TOOL_TIMEOUT",
			EnvRun, EnvAgent, EnvLaunch, EnvState:
			return true
		}
		return strings.HasPrefix(name, "CLAUDE_CODE_MESSAGING_")
	})
}

// Why a program cannot be started, as a StartError's cause.
var (
	ErrNotFound      = errors.New("no such program")
	ErrNotExecutable = errors.New("not executable")

	errNoDir = errors.New("no such working directory")
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

// Executable returns the absolute path of a program that is there. hint is as for startError.
func Executable(path, hint string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &StartError{Path: path, Err: err}
	}
	if _, err := exec.LookPath(abs); err != nil {
		return "", StartErrorOf(abs, hint, err)
	}
	return abs, nil
}

// InPath looks the name of a program up in the absolute folders of env's $PATH. It gives "" if it is in none.
func InPath(name string, env []string) string {
	for _, dir := range filepath.SplitList(Lookup(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// Lookup returns the value that a process started with env would see; nil is the caller's own environment.
func Lookup(env []string, name string) string {
	if env == nil {
		return os.Getenv(name)
	}
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// StartErrorOf gives the cause of a failed exec of path its type. hint says what to do if it is missing.
func StartErrorOf(path, hint string, err error) *StartError {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return &StartError{Path: path, Err: ErrNotFound, Reason: hint}
	case statErr == nil && !info.Mode().IsRegular():
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "it is not a file"}
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "the interpreter that its first line names is missing"}
	case errors.Is(err, fs.ErrPermission):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "chmod +x it"}
	case isNotProgram(err):
		return &StartError{Path: path, Err: ErrNotExecutable, Reason: "it is not a program for this machine"}
	case errors.Is(err, syscall.E2BIG):
		return &StartError{Path: path, Err: err, Reason: "its arguments and its environment together are too long"}
	}
	return &StartError{Path: path, Err: err}
}
