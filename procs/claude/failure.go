package claude

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"claude-supervise/procs"
)

// Classify tells what a turn's result means (e nil), or the end of a process, r being its last result or the zero
// Result. It gives the zero Failure if all is well. How a Spec.Command went, its exit code alone tells.
func Classify(r procs.Result, e *procs.Exit) procs.Failure {
	if e == nil {
		return turnFailure(r)
	}
	if e.Command {
		return commandFailure(e)
	}
	if f := neverBegan(r, e); f.Kind != "" {
		return f
	}
	if f := turnFailure(r); f.Kind != "" && e.Signal == "" {
		return f
	}
	switch {
	case e.Signal != "":
		return procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "it was ended by " + e.Signal + lastWords(e.Stderr)}
	case e.Code > 128 && e.Code < 160:
		return procs.Failure{Kind: procs.CutShort, Passing: true, Reason: fmt.Sprintf("it was ended by %s (exit %d)",
			unix.SignalName(syscall.Signal(e.Code-128)), e.Code)}
	case !e.Spoke:
		return procs.Failure{Kind: procs.NotClaude,
			Reason: fmt.Sprintf("it printed nothing that Claude Code prints (exit %d)%s",
				e.Code, lastWords(e.Stderr))}
	case e.Code != 0:
		return procs.Failure{Kind: procs.Crashed, Passing: true,
			Reason: fmt.Sprintf("exit %d%s", e.Code, lastWords(e.Stderr))}
	case r.Subtype == "":
		return procs.Failure{Kind: procs.CutShort, Passing: true, Reason: "it ended before the end of its turn"}
	}
	return procs.Failure{}
}

// commandFailure reads the end of a command. Its last words are on stderr, else at the end of what it printed.
func commandFailure(e *procs.Exit) procs.Failure {
	words := lastWords(e.Stderr)
	if words == "" {
		words = lastWords(e.Output)
	}
	switch {
	case e.Signal != "":
		return procs.Failure{Kind: procs.Exited, Reason: "it was ended by " + e.Signal + words}
	case e.Code != 0:
		return procs.Failure{Kind: procs.Exited, Reason: fmt.Sprintf("exit %d%s", e.Code, words)}
	}
	return procs.Failure{}
}

// What the CLI prints when it cannot begin, in all releases seen.
var (
	unknownOption = procs.Lazily(`unknown option '?(--?[A-Za-z0-9][A-Za-z0-9-]*)`)
	sessionTaken  = procs.Lazily(`Session ID \S+ is already in use`)
)

const (
	sessionGone = "No conversation found" // 100+ in a result line too
	placeGone   = "No message found with message.uuid"
)

// neverBegan reads why a process ended before its first turn.
func neverBegan(r procs.Result, e *procs.Exit) procs.Failure {
	if e.Code == 0 {
		return procs.Failure{}
	}
	if flag := unknownOption().FindStringSubmatch(e.Stderr); flag != nil && !e.Spoke {
		return procs.Failure{Kind: procs.RefusedFlag, Flag: flag[1], Passing: slices.Contains(optional, flag[1]),
			Reason: "this release of claude does not know " + flag[1]}
	}
	if sessionTaken().MatchString(e.Stderr) && !e.Spoke {
		return procs.Failure{Kind: procs.SessionTaken, Reason: sessionTaken().FindString(e.Stderr)}
	}
	if strings.Contains(e.Stderr, placeGone) || strings.Contains(r.Text, placeGone) {
		return noPlace
	}
	if strings.Contains(e.Stderr, sessionGone) || r.Subtype == "error_during_execution" &&
		strings.Contains(r.Text, sessionGone) {
		return procs.Failure{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}
	}
	return procs.Failure{}
}

var noPlace = procs.Failure{Kind: procs.PlaceGone, Reason: "the conversation has no such place any more"}

// turnFailure reads a result. Its subtype says success for a failed request too.
func turnFailure(r procs.Result) procs.Failure {
	reason := firstLine(r.Text)
	switch {
	case r.HookRefused != "":
		return RefusedByHook(r.HookRefused)
	case r.Subtype == "error_max_budget_usd", r.Subtype == "error_max_turns":
		return procs.Failure{Kind: procs.OverBudget, Reason: reason}
	case r.NumTurns == 0 && strings.HasPrefix(r.Text, noSandbox):
		return procs.Failure{Kind: procs.NotStarted, Reason: reason}
	case strings.HasPrefix(r.TerminalReason, "aborted"), r.Subtype == "error_during_execution" && r.APIStatus == 0:
		// 2.1.7 has no terminal reason, and says is_error:false here.
		if strings.Contains(r.Text, placeGone) {
			return noPlace
		}
		if strings.Contains(r.Text, sessionGone) {
			return procs.Failure{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}
		}
		return procs.Failure{Kind: procs.CutShort, Passing: true, Reason: "the turn was interrupted"}
	case r.IsError:
		return requestFailure(r, reason)
	}
	return procs.Failure{}
}

// noSandbox begins what the CLI says where the person's settings want a sandbox (sandbox.failIfUnavailable) that is not
// there: it ends before it has begun.
const noSandbox = "Sandbox required but unavailable"

// RefusedByHook is the failure of a turn that a hook of the person's own let not begin.
func RefusedByHook(why string) procs.Failure {
	return procs.Failure{Kind: procs.HookRefused,
		Reason: "your UserPromptSubmit hook refused what the agent was told: " + procs.CutLine(why)}
}

// requestFailure reads the CLI's words for a failed API request.
func requestFailure(r procs.Result, reason string) procs.Failure {
	says := func(texts ...string) bool {
		for _, t := range texts {
			if strings.Contains(strings.ToLower(r.Text), t) {
				return true
			}
		}
		return false
	}
	passing := r.APIStatus == 429 || r.APIStatus == 408 || r.APIStatus >= 500 || r.APIStatus == 0 && !refused(r)
	switch {
	case r.APIStatus == 401, says("not logged in", "/login", "invalid api key"):
		return procs.Failure{Kind: procs.Login, Reason: reason}
	case says("hit your limit", "usage limit", "limit reached", "credit balance is too low"),
		r.APIStatus == 429 && !r.Resets.IsZero():
		return procs.Failure{Kind: procs.Limit, Reason: reason, Reset: reset(r)}
	}
	return procs.Failure{Kind: procs.API, Passing: passing, Reason: reason}
}

// refused reports whether the CLI itself refused the request, so that the next would fail alike.
func refused(r procs.Result) bool {
	return r.TerminalReason == "prompt_too_long" || r.TerminalReason == "image_error"
}

var resetWords = procs.Lazily(`(?i)\bresets\s+(?:at\s+)?([^·\n]+)`)

func reset(r procs.Result) string {
	if !r.Resets.IsZero() {
		return r.Resets.Format(time.RFC3339)
	}
	if m := resetWords().FindStringSubmatch(r.Text); m != nil {
		return strings.TrimSpace(procs.CutLine(m[1]))
	}
	return ""
}

func firstLine(text string) string { return procs.CutLine(strings.TrimSpace(text)) }

// lastWords returns the last line of what was printed, without what only a terminal understands, to end a reason with.
func lastWords(printed string) string {
	lines := strings.FieldsFunc(printed, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) { // a sequence without end takes one line, not all
		line = strings.Join(strings.FieldsFunc(ansi.Strip(line), func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if line != "" {
			return ": " + procs.CutLine(line)
		}
	}
	return ""
}
