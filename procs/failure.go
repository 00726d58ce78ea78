package procs

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// A FailureKind is what sort of failure ended a turn or a process. The zero value is no failure.
type FailureKind string

// The kinds of failure.
const (
	NotStarted   FailureKind = "start"         // the program cannot be run
	NotClaude    FailureKind = "not_claude"    // it runs, and is something else
	RefusedFlag  FailureKind = "refused_flag"  // Flag; passing if it is optional: launch again with it in Spec.Without
	SessionGone  FailureKind = "session_gone"  // there is no such conversation to resume
	SessionTaken FailureKind = "session_taken" // the id of a new conversation is in use
	Login        FailureKind = "login"         // not logged in, or the key is not accepted
	Limit        FailureKind = "limit"         // the account's limit or credit is used up; Reset says until when
	OverBudget   FailureKind = "budget"        // --max-budget-usd or --max-turns
	API          FailureKind = "api"           // a request failed
	CutShort     FailureKind = "cut_short"     // the turn was interrupted, or the process ended before its end
	Crashed      FailureKind = "crash"         // the process ended in a way that the CLI never does by itself
	Exited       FailureKind = "exited"        // a Spec.Command ended otherwise than with exit code 0
)

// A Failure is why a turn or a process ended otherwise than well. It survives JSON unchanged.
type Failure struct {
	Kind    FailureKind
	Passing bool   // the same may work when tried again
	Reason  string // for people, bounded
	Reset   string // Limit: when it ends, as the CLI says it or in RFC 3339; "" if it does not say
	Flag    string // RefusedFlag
}

// Classify tells what a turn's result means (e nil), or the end of a process, r being its last result or the zero
// Result. It gives the zero Failure if all is well. How a Spec.Command went, its exit code alone tells.
func Classify(r Result, e *Exit) Failure {
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
		return Failure{Kind: Crashed, Passing: true, Reason: "it was ended by " + e.Signal + lastWords(e.Stderr)}
	case e.Code > 128 && e.Code < 160:
		return Failure{Kind: CutShort, Passing: true, Reason: fmt.Sprintf("it was ended by %s (exit %d)",
			unix.SignalName(syscall.Signal(e.Code-128)), e.Code)}
	case !e.Spoke:
		return Failure{Kind: NotClaude, Reason: fmt.Sprintf("it printed nothing that Claude Code prints (exit %d)%s",
			e.Code, lastWords(e.Stderr))}
	case e.Code != 0:
		return Failure{Kind: Crashed, Passing: true, Reason: fmt.Sprintf("exit %d%s", e.Code, lastWords(e.Stderr))}
	case r.Subtype == "":
		return Failure{Kind: CutShort, Passing: true, Reason: "it ended before the end of its turn"}
	}
	return Failure{}
}

// commandFailure reads the end of a command. Its last words are on stderr, else at the end of what it printed.
func commandFailure(e *Exit) Failure {
	words := lastWords(e.Stderr)
	if words == "" {
		words = lastWords(e.Output)
	}
	switch {
	case e.Signal != "":
		return Failure{Kind: Exited, Reason: "it was ended by " + e.Signal + words}
	case e.Code != 0:
		return Failure{Kind: Exited, Reason: fmt.Sprintf("exit %d%s", e.Code, words)}
	}
	return Failure{}
}

// What the CLI prints when it cannot begin, in all releases seen.
var (
	unknownOption = lazily(`unknown option '?(--?[A-Za-z0-9][A-Za-z0-9-]*)`)
	sessionTaken  = lazily(`Session ID \S+ is already in use`)
)

const sessionGone = "No conversation found" // 100+ in a result line too

// neverBegan reads why a process ended before its first turn.
func neverBegan(r Result, e *Exit) Failure {
	if e.Code == 0 {
		return Failure{}
	}
	if flag := unknownOption().FindStringSubmatch(e.Stderr); flag != nil && !e.Spoke {
		return Failure{Kind: RefusedFlag, Flag: flag[1], Passing: slices.Contains(optional, flag[1]),
			Reason: "this release of claude does not know " + flag[1]}
	}
	if sessionTaken().MatchString(e.Stderr) && !e.Spoke {
		return Failure{Kind: SessionTaken, Reason: sessionTaken().FindString(e.Stderr)}
	}
	if strings.Contains(e.Stderr, sessionGone) || r.Subtype == "error_during_execution" &&
		strings.Contains(r.Text, sessionGone) {
		return Failure{Kind: SessionGone, Reason: "the conversation to resume is gone"}
	}
	return Failure{}
}

// turnFailure reads a result. Its subtype says success for a failed request too.
func turnFailure(r Result) Failure {
	reason := firstLine(r.Text)
	switch {
	case r.Subtype == "error_max_budget_usd", r.Subtype == "error_max_turns":
		return Failure{Kind: OverBudget, Reason: reason}
	case strings.HasPrefix(r.TerminalReason, "aborted"), r.Subtype == "error_during_execution" && r.APIStatus == 0:
		// 2.1.7 has no terminal reason, and says is_error:false here.
		if strings.Contains(r.Text, sessionGone) {
			return Failure{Kind: SessionGone, Reason: "the conversation to resume is gone"}
		}
		return Failure{Kind: CutShort, Passing: true, Reason: "the turn was interrupted"}
	case r.IsError:
		return requestFailure(r, reason)
	}
	return Failure{}
}

// requestFailure reads the CLI's words for a failed API request.
func requestFailure(r Result, reason string) Failure {
	says := func(texts ...string) bool {
		for _, t := range texts {
			if strings.Contains(strings.ToLower(r.Text), t) {
				return true
			}
		}
		return false
	}
	passing := r.APIStatus == 429 || r.APIStatus == 408 || r.APIStatus >= 500 || r.APIStatus == 0 && !r.refused()
	switch {
	case r.APIStatus == 401, says("not logged in", "/login", "invalid api key"):
		return Failure{Kind: Login, Reason: reason}
	case says("hit your limit", "usage limit", "limit reached", "credit balance is too low"),
		r.APIStatus == 429 && !r.Resets.IsZero():
		return Failure{Kind: Limit, Reason: reason, Reset: r.reset()}
	}
	return Failure{Kind: API, Passing: passing, Reason: reason}
}

// refused reports whether the CLI itself refused the request, so that the next would fail alike.
func (r Result) refused() bool {
	return r.TerminalReason == "prompt_too_long" || r.TerminalReason == "image_error"
}

var resetWords = lazily(`(?i)\bresets\s+(?:at\s+)?([^·\n]+)`)

func (r Result) reset() string {
	if !r.Resets.IsZero() {
		return r.Resets.Format(time.RFC3339)
	}
	if m := resetWords().FindStringSubmatch(r.Text); m != nil {
		return strings.TrimSpace(cutLine(m[1]))
	}
	return ""
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

func cutLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}

func firstLine(text string) string { return cutLine(strings.TrimSpace(text)) }

// lastWords gives the last line of what was printed, without what only a terminal understands, to end a reason with.
func lastWords(printed string) string {
	lines := strings.FieldsFunc(printed, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) { // a sequence without end takes one line, not all
		line = strings.Join(strings.FieldsFunc(ansi.Strip(line), func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if line != "" {
			return ": " + cutLine(line)
		}
	}
	return ""
}
