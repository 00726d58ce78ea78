package claude

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

func TestAResultIsClassified(t *testing.T) {
	for _, c := range []struct {
		capture string
		want    []procs.Failure // of each result in it
	}{
		{"2.1.329_ask_perm.ndjson", []procs.Failure{{}}},
		{"2.1.7_interrupt_mcp.ndjson", []procs.Failure{{Kind: procs.CutShort, Passing: true, Reason: "the turn was interrupted"}, {}}},
		{"2.1.329_interrupt_mcp.ndjson", []procs.Failure{{Kind: procs.CutShort, Passing: true, Reason: "the turn was interrupted"}, {}}},
		{"2.1.329_budget.ndjson", []procs.Failure{{Kind: procs.OverBudget, Reason: "Reached maximum budget ($0.0001)"}}},
		{"2.1.329_max_turns.ndjson", []procs.Failure{{Kind: procs.OverBudget, Reason: "Reached maximum number of turns (1)"}}},
		{"2.1.329_session_gone.ndjson", []procs.Failure{{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}}},
		{"api-auth.jsonl", []procs.Failure{{Kind: procs.Login, Reason: "Invalid API key · Fix external API key"}}},
		{"api-overloaded.jsonl", []procs.Failure{{Kind: procs.API, Passing: true, Reason: "API Error: 529 Overloaded. This is a " +
			"server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway " +
			"(127.0.0.1:8111)."}}},
		{"api-rate-limit.jsonl", []procs.Failure{{Kind: procs.Limit, Reset: "3am",
			Reason: "API Error: Request rejected (429) · You've hit your limit · resets 3am"}}},
	} {
		t.Run(c.capture, func(t *testing.T) {
			var got []procs.Failure
			var d decoder
			for _, line := range captures(t)[filepath.Join("testdata/captures", c.capture)] {
				messages, _ := d.decode([]byte(line))
				for _, m := range messages {
					if r, ok := m.(procs.Result); ok {
						got = append(got, Classify(r, nil))
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestARequestThatFailedIsClassified(t *testing.T) {
	for _, c := range []struct {
		text   string // as 2.1.329 says it
		status int
		reason string // terminal reason
		resets time.Time
		want   procs.Failure
	}{
		{text: "Not logged in · Please run /login", want: procs.Failure{Kind: procs.Login}},
		{text: "Credit balance is too low", status: 400, want: procs.Failure{Kind: procs.Limit}},
		{text: "API Error: Request rejected (429) · slow down", status: 429, want: procs.Failure{Kind: procs.API, Passing: true}},
		{text: "rejected", status: 429, resets: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC),
			want: procs.Failure{Kind: procs.Limit, Reset: "2026-11-21T03:00:00Z"}},
		{text: "API Error: Unable to connect to API (ECONNREFUSED)", want: procs.Failure{Kind: procs.API, Passing: true}},
		{text: "API Error: 500 Internal", status: 500, want: procs.Failure{Kind: procs.API, Passing: true}},
		{text: "There's an issue with the selected model", status: 404, want: procs.Failure{Kind: procs.API}},
		{text: "API Error: 403 no", status: 403, want: procs.Failure{Kind: procs.API}},
		{text: "Prompt is too long", reason: "prompt_too_long", want: procs.Failure{Kind: procs.API}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := Classify(procs.Result{Subtype: "success", IsError: true, Text: c.text, APIStatus: c.status,
				TerminalReason: c.reason, Resets: c.resets}, nil)
			c.want.Reason = c.text
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnExitIsClassified(t *testing.T) {
	good := procs.Result{Subtype: "success", Text: "done"}
	for _, c := range []struct {
		name string
		last procs.Result
		exit procs.Exit
		want procs.Failure
	}{
		{"done", good, procs.Exit{Spoke: true}, procs.Failure{}},
		{"a result, then a crash", good, procs.Exit{Code: 1, Spoke: true, Stderr: "a\nTypeError: x\n"},
			procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "exit 1: TypeError: x"}},
		{"an agent that talks of options has not met one", procs.Result{Subtype: "success", Text: "error: unknown option '--x'"},
			procs.Exit{Code: 1, Spoke: true}, procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "exit 1"}},
		{"no sandbox", procs.Result{Subtype: "error_during_execution", IsError: true, Text: noSandbox + ": no bwrap"},
			procs.Exit{Code: 1, Spoke: true}, procs.Failure{Kind: procs.NotStarted, Reason: noSandbox + ": no bwrap"}},
		{"no result", procs.Result{}, procs.Exit{Spoke: true},
			procs.Failure{Kind: procs.CutShort, Passing: true, Reason: "it ended before the end of its turn"}},
		{"killed", good, procs.Exit{Code: -1, Signal: "SIGKILL"},
			procs.Failure{Kind: procs.Crashed, Passing: true, Reason: "it was ended by SIGKILL"}},
		{"asked to end", procs.Result{}, procs.Exit{Code: 143, Spoke: true},
			procs.Failure{Kind: procs.CutShort, Passing: true, Reason: "it was ended by SIGTERM (exit 143)"}},
		{"a failed request", procs.Result{Subtype: "success", IsError: true, APIStatus: 401, Text: "Invalid API key"},
			procs.Exit{Code: 1, Spoke: true}, procs.Failure{Kind: procs.Login, Reason: "Invalid API key"}},
		{"our flag", procs.Result{}, procs.Exit{Code: 1, Stderr: "error: unknown option '--forward-subagent-text'\n"},
			procs.Failure{Kind: procs.RefusedFlag, Passing: true, Flag: "--forward-subagent-text",
				Reason: "this release of claude does not know --forward-subagent-text"}},
		{"the person's flag", procs.Result{}, procs.Exit{Code: 1, Stderr: "error: unknown option '--bogus-flag=3'\n"},
			procs.Failure{Kind: procs.RefusedFlag, Flag: "--bogus-flag", Reason: "this release of claude does not know --bogus-flag"}},
		{"gone, in 2.1.7", procs.Result{}, procs.Exit{Code: 1, Stderr: "No conversation found with session ID: 0\n"},
			procs.Failure{Kind: procs.SessionGone, Reason: "the conversation to resume is gone"}},
		{"taken", procs.Result{}, procs.Exit{Code: 1, Stderr: "Error: Session ID 0-1 is already in use.\n"},
			procs.Failure{Kind: procs.SessionTaken, Reason: "Session ID 0-1 is already in use"}},
		{"something else", procs.Result{}, procs.Exit{Code: 2, Stderr: "usage: cat"},
			procs.Failure{Kind: procs.NotClaude, Reason: "it printed nothing that Claude Code prints (exit 2): usage: cat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Classify(c.last, &c.exit); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTheEndOfACommandIsClassifiedByItsExitCodeAndItsLastWords(t *testing.T) {
	for _, c := range []struct {
		name string
		exit procs.Exit
		want string // the reason, "" for no failure
	}{
		{"done, whatever it printed", procs.Exit{Stderr: "error: unknown option '--verbose'\n", Output: "failed"}, ""},
		{"stderr before the output", procs.Exit{Code: 3, Stderr: "a\nb\n\n", Output: "c\n"}, "exit 3: b"},
		{"as claude does in text mode", procs.Exit{Code: 1, Output: "Invalid API key · Fix external API key\n\x1b[?25h"},
			"exit 1: Invalid API key · Fix external API key"},
		{"colours, a tab and a bell", procs.Exit{Code: 1, Stderr: "\x1b[31merror:\x1b[0m\tno\a\r\n\x1b[?25h"}, "exit 1: error: no"},
		{"a progress bar", procs.Exit{Code: 1, Stderr: "10%\r20%\r"}, "exit 1: 20%"},
		{"a sequence without end before it", procs.Exit{Code: 1, Stderr: "\x1b]0;title\nwhy\n"}, "exit 1: why"},
		{"by a signal of its own making", procs.Exit{Code: 143}, "exit 143"},
		{"by a signal", procs.Exit{Code: -1, Signal: "SIGSEGV"}, "it was ended by SIGSEGV"},
		{"what claude alone means by it", procs.Exit{Code: 1, Stderr: "No conversation found with session ID: 0\n"},
			"exit 1: No conversation found with session ID: 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.exit.Command = true
			want := procs.Failure{Reason: c.want}
			if c.want != "" {
				want.Kind = procs.Exited
			}
			if got := Classify(procs.Result{Subtype: "success"}, &c.exit); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestAReasonIsBounded(t *testing.T) {
	got := Classify(procs.Result{}, &procs.Exit{Code: 2, Stderr: strings.Repeat("ä", procs.MaxTail)})
	if len(got.Reason) > 2*300 {
		t.Errorf("%d bytes", len(got.Reason))
	}
}
