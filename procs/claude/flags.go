package claude

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/procs"
)

// envClaude names the program to run when no flag does.
const envClaude = "CLAUDE_SUPERVISE_CLAUDE"

// Find returns the absolute path of the program to run: explicit if it is not "", else what $CLAUDE_SUPERVISE_CLAUDE
// names, else claude. A name without a slash is looked up in $PATH, of which only absolute folders count. env is as
// in Spec. Its errors are StartErrors.
func Find(explicit string, env []string) (string, error) {
	name := explicit
	for _, fallback := range []string{procs.Lookup(env, envClaude), "claude"} {
		if name == "" {
			name = fallback
		}
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return procs.Executable(name, claudeHint)
	}
	if path := procs.InPath(name, env); path != "" {
		return path, nil
	}
	return "", &procs.StartError{Path: name, Err: procs.ErrNotFound,
		Reason: "it is not in $PATH; install Claude Code, or give its path with --claude or $" + envClaude}
}

// claudeHint says what to do if claude is missing.
const claudeHint = "give the path of claude with --claude or $" + envClaude

// versionSuffix follows the number in what `claude --version` prints, in all releases.
const versionSuffix = " (Claude Code)"

// Version runs path with --version and gives the release, e.g. "2.1.329". It blocks until that ends or ctx is done. A
// program that does not answer as Claude Code does is a StartError with errNotClaude.
func Version(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = procs.Cleaned(nil)
	cmd.WaitDelay = time.Second // whoever else holds its output must not hold us
	out := &procs.Tail{Limit: 4 << 10}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("ask %s for its version: %w", path, ctx.Err())
		}
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return "", &procs.StartError{Path: path, Err: errNotClaude, Reason: "--version ended with " + exit.Error()}
		}
		return "", procs.StartErrorOf(path, claudeHint, err)
	}
	first, _, _ := strings.Cut(out.Text(), "\n")
	version, ok := strings.CutSuffix(strings.TrimSpace(first), versionSuffix)
	if !ok {
		return "", &procs.StartError{Path: path, Err: errNotClaude, Reason: fmt.Sprintf("--version printed %.60q", first)}
	}
	return version, nil
}

var errNotClaude = errors.New("not Claude Code")

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
	"--replay-user-messages", // receipts
	forwardSubagentText,
}

func (s launch) args() []string {
	args := slices.Concat(s.Prefix, required)
	release := ReleaseOf(InstalledRelease(s.Path))
	for _, flag := range optional {
		if !slices.Contains(s.Without, flag) && !release.refuses(flag) {
			args = append(args, flag)
		}
	}
	args = append(args, s.conversation()...)
	args = append(args, s.bounds()...)
	if len(s.Tools) > 0 {
		// The form with = takes one value: the other would take what follows.
		args = append(args, "--mcp-config="+mcpConfig)
		for _, t := range s.Tools {
			args = append(args, "--allowedTools="+ToolPrefix+t.Name)
		}
	}
	for _, rule := range s.Allowed {
		args = append(args, "--allowedTools="+rule)
	}
	return append(args, s.Flags...)
}

// conversation are the flags that say which one it is.
func (s launch) conversation() []string {
	switch {
	case s.Resume && s.At != "":
		return []string{"--resume", s.SessionID, "--resume-session-at", s.At}
	case s.Resume:
		return []string{"--resume", s.SessionID}
	case s.Fork != "":
		return []string{"--resume", s.Fork, "--fork-session", "--session-id", s.SessionID}
	}
	return []string{"--session-id", s.SessionID}
}

// bounds are the flags that keep a launch within what it may be and spend. The form with = takes a value that begins
// with a dash.
func (s launch) bounds() (flags []string) {
	if s.AgentType != "" {
		flags = append(flags, "--agent="+s.AgentType)
	}
	if s.BudgetUSD > 0 {
		flags = append(flags, "--max-budget-usd="+strconv.FormatFloat(s.BudgetUSD, 'f', -1, 64))
	}
	if s.MaxTurns > 0 {
		flags = append(flags, "--max-turns="+strconv.Itoa(s.MaxTurns))
	}
	return flags
}

// noDeferredCall has the CLI leave a call alone that a hook of the person's own has deferred, when it resumes the
// conversation of that call. Otherwise it asks the hook again and makes the call before it reads what it is told, and
// our hooks are not set up.
const noDeferredCall = "CLAUDE_CODE_DISABLE_DEFERRED_TOOL_RESUME=1"

// LeastConnect is the time that our tools have to connect, in milliseconds: what the CLI gives them by itself.
const LeastConnect = 30_000

// breakers are variables that break a promise of a run where they are set: they take AskUserQuestion, our tools or our
// hooks away, keep no conversation, or do without a person. What the person's settings set of them, ours unset
// (supervisor/permission).
var breakers = []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_COORDINATOR_MODE", "CLAUDE_CODE_BRIEF",
	"CLAUDE_CODE_EVAL_CONFINED", "CLAUDE_AGENT_SDK_MCP_NO_PREFIX", "CLAUDE_CODE_SKIP_PROMPT_HISTORY",
	"CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS"}

// withoutBreakers drops them, and a time to connect that is too short for our tools.
func withoutBreakers(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		if name == "MCP_TIMEOUT" {
			n, err := strconv.Atoi(value)
			return err != nil || n < LeastConnect
		}
		return slices.Contains(breakers, name)
	})
}
